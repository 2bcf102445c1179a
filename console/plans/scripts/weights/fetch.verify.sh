cd -- "$folder" 2>/dev/null && [ -f .pilot-files ] || { echo "there is no list of files yet"; exit 1; }
tab=$(printf '\t')
while IFS="$tab" read -r size sum url path; do
  good "./$path" "$size" "$sum" || { echo "missing, or not as the hub has it: $path"; exit 1; }
done <.pilot-files
