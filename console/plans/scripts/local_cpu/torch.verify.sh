# uses: compare
[ -x "$py" ] || exit 1
compare "torch==$torch_version" differences
