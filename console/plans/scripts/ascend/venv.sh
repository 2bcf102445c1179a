# uses: system_names
chosen=$(interpreter)
[ -n "$chosen" ] || fail "Python $python with the modules venv and ensurepip was not found. Install it (python$python and \
python$python-venv on Ubuntu, python3 on openEuler), then run this step again."
room 6000 "$work" "the environment"
used=$(runs_from "$venv/bin/")
[ -z "$used" ] || fail "A server runs from $venv (process $used); replacing it now would break that. Stop it first."
mkdir -p "$work/runtimes"
"$chosen" -m venv --clear "$venv"
printf '%s\n' "$stack" >"$venv/pilot-stack"
"$py" -c 'import platform; print("Python", platform.python_version())'
