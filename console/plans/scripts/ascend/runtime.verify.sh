# uses: engine_words compare
# What is installed now, whichever way: the last line names it.
case $backend in
    ascend_venv)
        [ -d "$venv" ] || exit 44
        [ -s "$venv/pinned.txt" ] || { echo 'the list of packages was never finished'; exit 1; }
        compare "$(cat "$venv/pinned.txt")" differences || exit 1
        cat "$venv/pilot-stack"
        ;;
    *)
        # An image that was there before us was tried, but never noted as brought, so that removing leaves it alone.
        image=$(cat "$notes/container-looked" 2>/dev/null || true)
        if [ -z "$image" ] || ! engine inspect "$image" >/dev/null 2>&1; then
            [ -s "$notes/image" ] || exit 44
            image=$(tail -n 1 "$notes/image")
        fi
        engine inspect "$image" >/dev/null 2>&1 || { echo "the image $image is not there any more"; exit 1; }
        printf '%s\n' "$image"
        ;;
esac
