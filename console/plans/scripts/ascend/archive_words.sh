# archive: the file that holds the image of $tag for this machine; nothing when there is none. A bundle names the
# architecture in the name; where a name does not tell, it is taken to be of this one.
archive() {
    found=''
    for each in "$images"/*.tar "$images"/*.tar.gz; do
        [ -f "$each" ] || continue
        name=${each##*/}
        case $name in
            *aarch64* | *arm64*) [ "$machine" = aarch64 ] || continue ;;
            *x86_64* | *amd64*) [ "$machine" = x86_64 ] || continue ;;
        esac
        case ${name%%.tar*} in *"$tag" | *"${tag}_$machine") found=$each ;; esac
    done
    printf '%s' "$found"
}
no_archive() {
    fail "There is no archive of the image $image for $machine in $images. Push the bundle of this host, or write one elsewhere with: \
docker save -o $tag.tar $image"
}
