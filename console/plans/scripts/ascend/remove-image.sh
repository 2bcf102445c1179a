# uses: engine_words
while read -r one; do
    if has_image "$one" </dev/null; then
        engine rmi "$one" </dev/null || fail "The image $one could not be removed; what the engine said is above."
    fi
done <"$notes/$what"
rm -f "$notes/$what" "$notes/container-looked" "$notes/container-proved"
