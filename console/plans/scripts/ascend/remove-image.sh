# uses: engine_words
while read -r one; do
    if engine image inspect "$one" >/dev/null 2>&1 </dev/null || engine inspect "$one" >/dev/null 2>&1 </dev/null; then
        engine rmi "$one" </dev/null || fail "The image $one could not be removed; what the engine said is above."
    fi
done <"$notes/$what"
rm -f "$notes/$what" "$notes/container-looked" "$notes/container-proved"
