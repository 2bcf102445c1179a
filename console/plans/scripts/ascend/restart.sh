[ "$as_root" != none ] || fail "Restarting needs root. Ask an administrator of this host to restart it, then run this step \
again."
cards_free "restarting the host"
case ${PILOT_ANSWER:-} in
    yes) ;;
    no) fail "The host was not restarted, so the driver that was installed does not run yet. Restart it when that \
suits, then run this step again." ;;
    *) printf '%s' "$question" >ask; exit 75 ;;
esac
root true
noted restarting "$(boot_id)"
echo "Restarting now."
root sh -c '(sleep 2; reboot || shutdown -r now) >/dev/null 2>&1 </dev/null &'
