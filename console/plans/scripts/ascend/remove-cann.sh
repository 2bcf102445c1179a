# uses: cann_words
cards_free "removing CANN"
package_here "$file"
install_cann sh "$packages/$file" --uninstall --install-path="$prefix"
forget "$what" "$version"
