# uses: system_names
missing=$(lacking)
[ -n "$missing" ] || exit 0
echo "Missing packages of the system: $missing"
[ "$as_root" != none ] || fail "Installing packages of the system needs root. Ask an administrator of this host to \
install: $missing"
out=$PWD/tool.log
install_them() {
    # The names come from the plan and hold no blanks.
    # shellcheck disable=SC2086
    case $tool in
        apt) root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=0 install $missing ;;
        dnf) root "$(command -v dnf || command -v yum)" -y install $missing ;;
    esac >"$out" 2>&1
}
waited=0
while :; do
    if install_them; then cat "$out"; exit 0; fi
    # Another run of apt holds the lock, often the daily upgrade: that ends by itself.
    held=$(sed -n 's/^E: \(Could not get lock .*\)$/\1/p; s/^E: \(Unable to acquire .*is another process.*\)$/\1/p' "$out" | head -n 1)
    [ -n "$held" ] || break
    [ "$waited" -lt "$lock_wait" ] || { cat "$out"; fail "The package tool stayed locked for $waited s: $held"; }
    echo "Waiting for the package tool ($waited s): $held"
    sleep 5
    waited=$((waited + 5))
done
cat "$out"
fail "The packages of the system could not be installed; what the package tool said is above. On a host without a \
network, install them from the installation medium of the distribution: $missing"
