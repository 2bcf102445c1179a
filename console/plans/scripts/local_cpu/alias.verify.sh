# uses: compare
[ -x "$py" ] || exit 1
compare "vllm==$alias_version" differences
