# uses: cann_words with_env
package_here "$file"
room 3000 "$prefix" "NNAL"
with_env "$packages/$file" --install --quiet --install-path="$prefix"
[ -r "$prefix/nnal/atb/set_env.sh" ] || fail "NNAL was installed elsewhere than in $prefix/nnal."
brought nnal "$version"
