# uses: engine_words
engine inspect "$image" >/dev/null 2>&1 || { echo "The image $image is not there"; exit 1; }
