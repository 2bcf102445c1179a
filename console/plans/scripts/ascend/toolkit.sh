# uses: cann_words
package_here "$file"
room 12000 "$prefix" "CANN"
install_cann sh "$packages/$file" --full --quiet --install-path="$prefix"
brought toolkit "$version"
