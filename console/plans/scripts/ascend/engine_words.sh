# engine WORDS...: docker, as this user if the engine answers it, else as root.
engine() {
    if [ "$as_root" = none ] || docker info >/dev/null 2>&1; then docker "$@"; else root docker "$@"; fi
}
has_image() { engine image inspect "$1" >/dev/null 2>&1 || engine inspect "$1" >/dev/null 2>&1; }
runs_engine() { engine info >/dev/null 2>&1; }
# Every device file of an NPU, and those that all NPUs share, as words for docker run; and what is missing of them.
device_words() {
    for each in /dev/davinci[0-9]*; do [ -e "$each" ] && printf -- '--device %s ' "$each"; done
    for each in $devices; do [ ! -e "$each" ] || printf -- '--device %s ' "$each"; done
}
volume_words() { for each in $mounts; do [ ! -e "$each" ] || printf -- '--volume %s:%s ' "$each" "$each"; done; }
lacking_files() {
    ls /dev/davinci[0-9]* >/dev/null 2>&1 || printf '%s ' '/dev/davinci0'
    for each in $devices $mounts; do [ -e "$each" ] || printf '%s ' "$each"; done
}
