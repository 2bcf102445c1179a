# A server has answered with exactly the packages that are there now, on the driver that runs now.
[ -s "$venv/answered" ] || { echo 'No server was tried yet'; exit 1; }
{ cat "$venv/pinned.txt"; running_driver; } | cmp -s - "$venv/answered" ||
    { echo 'No server was tried with these packages and this driver'; exit 1; }
