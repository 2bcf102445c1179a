# Takes the list of files on standard input and keeps it; prints the free bytes, then those that are there already.
umask 022
mkdir -p -- "$folder" || exit 1
cat >"$folder/.pilot-files.new" && mv -f -- "$folder/.pilot-files.new" "$folder/.pilot-files" || exit 1
df -Pk "$folder" | awk 'NR == 2 { printf "%.0f\n", $4 * 1024 }'
there=0
tab=$(printf '\t')
while IFS="$tab" read -r size sum url path; do
  now=$(size_of "$folder/$path")
  [ "$now" -gt 0 ] || now=$(size_of "$folder/$path.part")
  [ "$now" -le "$size" ] || now=0
  there=$((there + now))
done <"$folder/.pilot-files"
echo "$there"
