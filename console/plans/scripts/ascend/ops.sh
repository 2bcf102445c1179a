# uses: cann_words with_env
package_here "$file"
room 6000 "$prefix" "the operators"
with_env "$packages/$file" --install --quiet --install-path="$prefix"
brought ops "$version"
