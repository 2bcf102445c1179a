used=$(runs_from "$venv/bin/")
[ -z "$used" ] || fail "A server runs from $venv (process $used). Stop it first."
rm -rf "$venv"
