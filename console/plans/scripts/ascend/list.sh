# uses: pinned
pinned list "$wheels" "$lock" "$pins" >"$venv/pinned.part" || fail "The list of packages is not complete, see above."
printf '%s\n' "$lock" >"$venv/lock.txt"
mv "$venv/pinned.part" "$venv/pinned.txt"
echo "$(wc -l <"$venv/pinned.txt") packages, each with its version, in $venv/pinned.txt"
