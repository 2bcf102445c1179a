# with_env FILE WORDS...: an installer of CANN, with the environment of the toolkit.
with_env() {
    [ -r "$(cann_home)/set_env.sh" ] || [ -r "$prefix/ascend-toolkit/set_env.sh" ] || fail "The toolkit of CANN \
$version is not there, and this package stands on it. Install the toolkit first."
    # shellcheck disable=SC2016
    install_cann bash -c 'set +u; if [ -r "$1/set_env.sh" ]; then . "$1/set_env.sh"; else . "$2/ascend-toolkit/set_env.sh"; fi
shift 2; exec sh "$@"' bash "$(cann_home)" "$prefix" "$@"
}
