due=$(cat "$notes/restart" 2>/dev/null || true)
[ "$due" != "$(boot_id)" ] || { echo 'Since the last restart driver or firmware were changed'; exit 1; }
[ -n "$wanted" ] || exit 0  # none is to run
seen=$(running_driver)
at_least "$seen" "$wanted" || { echo "Running driver: ${seen:-none}, wanted $wanted"; exit 1; }
