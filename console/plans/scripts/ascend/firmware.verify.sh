seen=$(firmware_version)
if [ -z "$file" ]; then [ -n "$seen" ] || [ -d "$hdk/firmware" ] || { echo 'There is no firmware'; exit 1; }; exit 0; fi
at_least "$seen" "$wanted" || { echo "Firmware: ${seen:-none}, wanted $wanted"; exit 1; }
