# Where this release of CANN lies: from 8.5 on cann-<version>, before that ascend-toolkit/<version>.
cann_home() { if at_least "$version" 8.5; then printf '%s' "$prefix/cann-$version"; else printf '%s' "$prefix/ascend-toolkit/$version"; fi; }
same() { [ "$(printf '%s' "$1" | tr '[:upper:]' '[:lower:]')" = "$(printf '%s' "$2" | tr '[:upper:]' '[:lower:]')" ]; }
# As root below /usr/local, as the user itself below its home.
install_cann() {
    echo "Running the installer of $file"
    if [ "$as_root" = none ] || [ "$as_root" = root ]; then done_by() { "$@"; }; else done_by() { root "$@"; }; fi
    done_by "$@" || fail "The installer of $file stopped; its own words are above. Its log lies in \
/var/log/ascend_seclog, or in var/log/ascend_seclog of the home of $login."
}
