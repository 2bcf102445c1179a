cards_free "removing the $what"
root sh "$hdk/$what/script/uninstall.sh" || fail "The $what could not be removed; what its script said is above."
restart_due
rm -f "$notes/$what"
