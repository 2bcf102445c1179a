# uses: compare
[ -x "$py" ] || exit 1
compare "pip==$pip_version" differences
