[ -d "$prefix/nnal/atb/$version" ] || { echo "NNAL $version is not in $prefix/nnal/atb"; exit 1; }
[ -r "$prefix/nnal/atb/set_env.sh" ] || { echo 'NNAL has no environment script'; exit 1; }
