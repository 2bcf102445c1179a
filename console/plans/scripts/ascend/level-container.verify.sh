# uses: engine_words
[ "$(cat "$notes/container-looked" 2>/dev/null)" = "$image" ] || { echo 'No container was tried yet'; exit 1; }
# What was proved holds for the very image and driver it was proved with.
seen="$(engine inspect -f '{{.Id}}' "$image" 2>/dev/null) $(running_driver)"
[ "$(cat "$notes/container-proved" 2>/dev/null)" = "$seen" ] ||
    { echo 'No container was tried with this image and this driver'; exit 1; }
