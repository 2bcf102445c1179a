# uses: pinned compare
[ -s "$venv/pinned.txt" ] || { echo 'There is no list of packages yet'; exit 1; }
wanted=$(pinned part "$venv/pinned.txt" "$group")
[ -z "$wanted" ] || compare "$wanted" differences
