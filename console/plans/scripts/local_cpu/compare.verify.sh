# uses: compare pins
[ -x "$py" ] || { echo "There is no runtime at $venv"; exit 1; }
compare "$(pins)
vllm==$alias_version" differences || exit 1
[ -f "$venv/complete.json" ] || { echo "The runtime at $venv was not finished"; exit 1; }
