seen=$(driver_version)
at_least "$seen" "$wanted" || { echo "Driver: ${seen:-none}, wanted $wanted"; exit 1; }
