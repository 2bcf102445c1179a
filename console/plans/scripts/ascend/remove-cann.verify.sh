# Only what this console installed here is removed.
[ ! -e "$notes/$what" ] || { echo "Installed by the console: $what $(cat "$notes/$what")"; exit 1; }
