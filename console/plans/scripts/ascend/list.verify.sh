# uses: pinned
[ -s "$venv/pinned.txt" ] || { echo 'There is no list of packages yet'; exit 1; }
pinned list "$wheels" "$lock" "$pins" | cmp -s - "$venv/pinned.txt" || { echo 'The list of packages has changed'; exit 1; }
printf '%s\n' "$lock" | cmp -s - "$venv/lock.txt" || { echo 'The hashes of the list are not there, or others'; exit 1; }
