# uses: published
[ -x "$py" ] || exit 1
published "$model" "$recipe"
