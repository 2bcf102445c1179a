used=$(grep -lzF "$venv/bin/" /proc/[0-9]*/cmdline 2>/dev/null | cut -d / -f 3 | grep -vx "$$" | head -n 5 || true)
[ -z "$used" ] || fail "A server runs from $venv (process $(echo $used)). Stop it first."
rm -rf "$venv"
