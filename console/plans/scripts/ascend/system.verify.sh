# uses: system_names
missing=$(lacking)
[ -z "$missing" ] || { echo "Missing packages of the system: $missing"; exit 1; }
