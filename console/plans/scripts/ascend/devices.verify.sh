# uses: engine_words
lacking=$(lacking_files)
[ -z "$lacking" ] || { echo "Missing for a container: $lacking"; exit 1; }
