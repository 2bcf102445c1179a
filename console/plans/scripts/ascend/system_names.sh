# What is missing of the packages of the system, one line.
lacking() {
    for name in $names; do
        case $tool in
            apt) state=$(dpkg-query -W -f='${Status}' "$name" 2>/dev/null || true)
                 [ "$state" = 'install ok installed' ] || printf '%s ' "$name" ;;
            dnf) rpm -q "$name" >/dev/null 2>&1 || printf '%s ' "$name" ;;
        esac
    done
    if [ -n "$driver_tools" ] && [ ! -d "/lib/modules/$(uname -r)/build" ]; then
        case $tool in apt) printf 'linux-headers-%s ' "$(uname -r)" ;; dnf) printf 'kernel-devel-%s ' "$(uname -r)" ;; esac
    fi
    if [ -n "$python" ] && ! python_fits; then
        case $tool in
            apt) if [ "$python" = "$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" ]; then
                     printf 'python3-venv '; else printf 'python%s python%s-venv ' "$python" "$python"; fi ;;
            dnf) printf 'python%s ' "$python" ;;
        esac
    fi
}
python_fits() { [ -n "$(interpreter)" ]; }
# The wished Python on this host, one that can make environments; nothing if there is none.
interpreter() {
    for each in "python$python" python3 /usr/bin/python3; do
        if "$each" -c 'import sys, ensurepip, venv; raise SystemExit("%d.%d" % sys.version_info[:2] != sys.argv[1])' "$python" 2>/dev/null; then
            printf '%s' "$each"; return 0
        fi
    done
}
