# uses: engine_words archive_words
room 20000 "$work" "the image"
found=$(archive)
if [ -n "$found" ]; then
    echo "Loading $found"
    engine load -i "$found" || fail "The archive $found could not be loaded; what the engine said is above. It may be \
damaged or not whole: push the bundle again."
elif [ "$source" = folder ]; then
    no_archive
else
    engine pull "$image" || fail "The image could not be pulled; what the engine said is above. Some hosts (Kylin) cannot \
unpack it while pulling: pull it elsewhere, docker save it, and install from a folder of packages."
fi
has_image "$image" ||
    fail "The archive was loaded, but it holds another image than $image."
brought image "$image"
