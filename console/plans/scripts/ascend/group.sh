# uses: pinned
pinned part "$venv/pinned.txt" "$group" >wanted.txt
[ -s wanted.txt ] || { echo 'Nothing of this belongs to the stack.'; exit 0; }
cat wanted.txt
if [ "$source" = folder ]; then
    # Nothing but this folder: what is set up for pip on this host or for this user does not count.
    unset PIP_FIND_LINKS PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_CONSTRAINT
    export PIP_CONFIG_FILE=/dev/null
    set -- --no-index --find-links "$wheels"
else
    set --
    for each in $indexes; do set -- "$@" --extra-index-url "$each"; done
fi
[ -z "$from_source" ] || export VLLM_TARGET_DEVICE=empty
mkdir -p "$work/cache/tmp"
TMPDIR="$work/cache/tmp" "$py" -m pip install --no-deps --progress-bar off "$@" -r wanted.txt ||
    fail "Not every package could be installed; what pip said is above. Each needs a wheel for Python $python and for \
$machine, in exactly this version."
