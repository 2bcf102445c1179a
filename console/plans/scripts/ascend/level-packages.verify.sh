# uses: compare
[ -s "$venv/pinned.txt" ] || { echo 'There is no list of packages yet'; exit 1; }
compare "$(cat "$venv/pinned.txt")" differences
