# uses: system_names
chosen=$(interpreter)
[ -n "$chosen" ] || fail "Python $python with the modules venv and ensurepip was not found. Install it (python$python and \
python$python-venv on Ubuntu, python3 on openEuler), then run this step again."
room 6000 "$work" "the environment"
used=$(grep -lzF "$venv/bin/" /proc/[0-9]*/cmdline 2>/dev/null | cut -d / -f 3 | grep -vx "$$" | head -n 5 || true)
[ -z "$used" ] || fail "A server runs from $venv (process $(echo $used)); replacing it now would break that. Stop it first."
mkdir -p "$work/runtimes"
"$chosen" -m venv --clear "$venv"
printf '%s\n' "$stack" >"$venv/pilot-stack"
"$py" -c 'import platform; print("Python", platform.python_version())'
