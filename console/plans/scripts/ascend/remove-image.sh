# uses: engine_words
engine rmi "$(cat "$notes/$what")" || fail "The image could not be removed; what the engine said is above."
rm -f "$notes/$what" "$notes/container-looked" "$notes/container-proved"
