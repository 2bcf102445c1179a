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
mkdir -p "$work/cache/tmp"
export TMPDIR="$work/cache/tmp"
if [ -n "$from_source" ]; then
    # vLLM for no device is in no index: it is built here from its source. PyTorch is there already; what else the build
    # asks for goes into a folder of this step. PyTorch does not look for the NPU, which has no environment here.
    rm -rf tools
    # shellcheck disable=SC2086
    "$py" -m pip install -q --cache-dir "$work/cache/pip" --target tools "$@" $tools || fail "The tools to build vLLM could not be fetched; what pip said is above."
    export PYTHONPATH="$PWD/tools" VLLM_TARGET_DEVICE=empty TORCH_DEVICE_BACKEND_AUTOLOAD=0
    VLLM_VERSION_OVERRIDE=$(sed -n 's/^vllm==//p' wanted.txt)  # else it calls itself +empty, and pip finds that inconsistent
    export VLLM_VERSION_OVERRIDE
    set -- "$@" --no-build-isolation --no-binary vllm
fi
take() { "$py" -m pip install --no-deps --progress-bar off --cache-dir "$work/cache/pip" "$@"; }
# Where the list knows the SHA-256 of a package, pip takes no other file; it insists for all of a call or for none.
: >hashed.txt
cp wanted.txt plain.txt
if [ "$source" = index ]; then
    pinned hashed wanted.txt "$venv/lock.txt" >hashed.txt
    pinned plain wanted.txt "$venv/lock.txt" >plain.txt
fi
why="Not every package could be installed; what pip said is above. Each needs a wheel for Python $python and for \
$machine, in exactly this version, and the file must be the one whose SHA-256 the list names."
[ ! -s hashed.txt ] || take "$@" --require-hashes -r hashed.txt || fail "$why"
[ ! -s plain.txt ] || take "$@" -r plain.txt || fail "$why"
