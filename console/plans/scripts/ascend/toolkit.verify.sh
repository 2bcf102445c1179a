# uses: cann_words
there=$(cann_home)
info=$(field "$there/$machine-linux/ascend_toolkit_install.info" version)
same "$info" "$version" || { echo "CANN toolkit in $there: ${info:-none}, wanted $version"; exit 1; }
