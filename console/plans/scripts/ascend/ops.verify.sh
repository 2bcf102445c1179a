# uses: cann_words
info="$(cann_home)/$machine-linux/ascend_ops_install.info"
if at_least "$version" 8.5; then
    seen=$(field "$info" version)
    same "$seen" "$version" || { echo "Operators: ${seen:-none}, wanted $version"; exit 1; }
    # Operators of another chip install without complaint, and fail only when a model runs.
    named=$(field "$info" package_name)
    same "$named" "$package" || { echo "The operators that are there are $named, not $package"; exit 1; }
else
    grep -q '^opp_kernel_running_version=' "$(cann_home)/version.cfg" 2>/dev/null || { echo 'No operators'; exit 1; }
fi
