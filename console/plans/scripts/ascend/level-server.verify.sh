# A server has answered with exactly the packages that are there now.
[ -s "$venv/answered" ] && cmp -s "$venv/answered" "$venv/pinned.txt" || { echo 'No server was tried yet'; exit 1; }
