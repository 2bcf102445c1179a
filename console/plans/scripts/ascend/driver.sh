[ "$as_root" != none ] || fail "The driver is a module of the kernel, so only root installs it. Ask an administrator of \
this host to run, as root: sh $file $words"
[ -n "$file" ] || fail "A driver from $wanted on has to be installed, but the name of its file is not known here. Fetch \
it from the support site of the vendor, install it by hand with --full --install-for-all, then run this step again."
package_here "$file"
cards_free "changing the driver"
seen=$(driver_version)
if [ -n "$seen" ]; then words="--upgrade --quiet"; else words="--full --install-for-all --quiet"; fi
echo "Driver now: ${seen:-none}. Running: $file $words"
# shellcheck disable=SC2086
root sh "$packages/$file" $words || fail "The installer of the driver stopped; its own words are above, its log is \
/var/log/ascend_seclog/ascend_install.log."
restart_due
noted driver "$version"
