# uses: clear_partial tenths wheels
scratch
clear_partial
room 2500 "the packages"
wheels >packages.txt
uv=$(command -v uv || command -v "$HOME/.local/bin/uv" || true)
started=$(date +%s)
if [ -n "$uv" ]; then
    echo "Installing the packages with $uv (about $download_mb MB to download)."
    # uv does not read pip's settings: give it the index that pip would use.
    index=${PIP_INDEX_URL:-$("$py" -m pip config get global.index-url 2>/dev/null || true)}
    if [ -n "$index" ] && [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ]; then export UV_DEFAULT_INDEX="$index"; fi
    "$uv" pip install --python "$py" --cache-dir "$cache/uv" --no-deps --require-hashes --only-binary :all: \
        -r packages.txt &
    installing=$!
    while sleep 5 && kill -0 "$installing" 2>/dev/null; do
        echo "  $(($(date +%s) - started)) s, $(du -sm "$cache/uv" 2>/dev/null | cut -f1) MB in the cache"
    done
    if wait "$installing"; then echo "Done in $(($(date +%s) - started)) s."; exit 0; fi
    echo "uv could not finish (see above); going on with pip."
    clear_partial
fi
echo "Installing the packages with pip (about $download_mb MB to download)."
logged_pip install --no-deps --require-hashes --only-binary :all: -r packages.txt || fail "Not all packages could be installed; \
what pip said is above. Check the network, the package index of this host (pip config list) and the room: \
$(free_mib) MiB are free in $work, and a full disk may look like a broken connection. Then run this job again: what was \
downloaded is kept."
echo "Done in $(($(date +%s) - started)) s."
