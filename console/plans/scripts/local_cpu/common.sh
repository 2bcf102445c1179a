# Shared by every step of the local runtime; work, python, machine and the pins are set above.
set -eu
unset PYTHONPATH PYTHONHOME PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV
export TQDM_DISABLE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1
export PYTHONNOUSERSITE=1 PYTHONUNBUFFERED=1 PYTHONIOENCODING=utf-8 PIP_USER=0 PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1
py="$venv/bin/python"
cache="$work/cache"

fail() { printf '%s\n' "$*" >&2; exit 1; }

free_mib() { "$py" -c 'import shutil, sys; print(shutil.disk_usage(sys.argv[1]).free >> 20)' "$work"; }

# room MEBIBYTES WHAT: stops before a heavy step that could not end well.
room() {
    mkdir -p "$work"
    free=$(free_mib)
    [ "$free" -ge "$1" ] || fail "Not enough room for $2: it needs $1 MiB free in $work, there are $free MiB. \
Make room and run this job again; what was downloaded is kept."
}

# Downloads and half-written files stay on the disk whose room was checked, not in a small /tmp.
scratch() { mkdir -p "$cache/tmp"; export TMPDIR="$cache/tmp"; }

# pip as a log wants it: one line for each tenth of a download, and pip's own exit code.
logged_pip() {
    { { { { "$py" -m pip "$@" --progress-bar raw --cache-dir "$cache/pip" 2>&1 && echo 0 >&3 || echo $? >&3
    } | "$py" -c "$(tenths)" >&4; } 3>&1; } | { read -r code; exit "$code"; }; } 4>&1
}
