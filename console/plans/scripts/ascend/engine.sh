# uses: engine_words
bring_engine() {
    [ "$as_root" != none ] || fail "There is no container engine here, and installing one needs root. Ask an administrator \
of this host to install Docker."
    case $tool in
        apt) root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout="$lock_wait" install docker.io ;;
        dnf) root "$(command -v dnf || command -v yum)" -y install docker ;;
    esac || fail "Docker could not be installed; what the package tool said is above. On a host without a network, install it \
from the installation medium of the distribution."
}
start_engine() { root systemctl enable --now docker || root systemctl start docker; }
command -v docker >/dev/null 2>&1 || bring_engine
if ! runs_engine; then
    [ "$as_root" != none ] || fail "The container engine does not answer $login, and starting it needs root. Ask an \
administrator of this host to start it, and to add $login to the group docker."
    # A host may have the command alone, which talks to engines elsewhere: then there is no service to start.
    start_engine || { bring_engine; start_engine; }
fi
[ "$login" = root ] || docker info >/dev/null 2>&1 || root usermod -aG docker "$login"
runs_engine || fail "Docker is there, but it does not answer: $(docker info 2>&1 | tail -n 3)"
