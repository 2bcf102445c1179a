# uses: compare pins
[ -x "$py" ] || exit 1
compare "$(pins)" differences
