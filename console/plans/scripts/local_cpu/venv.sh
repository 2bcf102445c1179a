fits='import platform, sys, sysconfig
ok = (3, 11) <= sys.version_info[:2] <= (3, 14) and sys.implementation.name == "cpython"
raise SystemExit(0 if ok and not sysconfig.get_config_var("Py_GIL_DISABLED") else 1)'
chosen='' bare='' seen=''
for candidate in "$python" python3.12 python3.13 python3.11 python3.14 python3 /usr/bin/python3; do
    found=$("$candidate" -c 'import platform, sys; print(platform.python_version(), sys.executable)' 2>/dev/null) || continue
    seen="$seen
  $found"
    "$candidate" -c "$fits" || continue
    if ! "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then bare="${bare:-$found}"; continue; fi
    chosen="$candidate"
    break
done
if [ -z "$chosen" ] && [ -n "$bare" ]; then
    short=$(printf '%s' "$bare" | cut -d. -f1,2)
    fail "Python $bare cannot make a virtual environment: its module ensurepip is missing. \
Install the package python$short-venv (Debian, Ubuntu) or python3-pip (openEuler, RHEL), then run this job again."
fi
[ -n "$chosen" ] || fail "No Python 3.11 to 3.14 was found, and vLLM needs one. Install one (for example the packages \
python3.12 and python3.12-venv), then run this job again. Seen here:${seen:- none}"
"$chosen" - "$machine" "$glibc" <<'PILOT_CHECK'
import os, platform, sys
machine, glibc = sys.argv[1:]
if platform.machine() != machine:
    sys.exit(f"This plan is for {machine}, but the machine is {platform.machine()}. Make the plan again.")
library, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
if library != "glibc" or [int(n) for n in version.split(".")[:2]] < [int(n) for n in glibc.split(".")]:
    sys.exit(f"The C library here is {library or 'not glibc'} {version}; the packages need glibc {glibc} or newer. "
             "Use a newer Linux (Ubuntu 20.04, Debian 11, openEuler 22.03 or later).")
PILOT_CHECK
py="$chosen"
room 3500 "the runtime"
echo "Using $("$chosen" -c 'import platform, sys; print("Python", platform.python_version(), "at", sys.executable)')"
mkdir -p "$work/runtimes"
"$chosen" -m venv --clear "$venv"
echo "Made $venv"
