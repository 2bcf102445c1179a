# Only what this console installed here is removed.
! was_brought "$what" "$version" || { echo "Installed by the console: $what $version"; exit 1; }
