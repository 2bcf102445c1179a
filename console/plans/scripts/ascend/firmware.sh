[ "$as_root" != none ] || fail "Firmware is written by root only. Ask an administrator of this host to run, as root: \
sh $file $words"
[ -n "$file" ] || fail "The firmware that goes with the driver has to be installed, but the name of its file is not \
known here. Fetch it from the support site of the vendor, install it by hand with --full, then run this step again."
package_here "$file"
cards_free "changing the firmware"
seen=$(firmware_version)
if [ -n "$seen" ]; then words="--upgrade --quiet"; else words="--full --quiet"; fi
echo "Firmware now: ${seen:-none}. Running: $file $words"
# shellcheck disable=SC2086
root sh "$packages/$file" $words || fail "The installer of the firmware stopped; its own words are above, its log is \
/var/log/ascend_seclog/ascend_install.log."
restart_due
noted firmware "$wanted"
