# uses: engine_words
command -v docker >/dev/null 2>&1 || { echo 'There is no Docker'; exit 1; }
runs_engine || { echo 'Docker does not answer'; exit 1; }
