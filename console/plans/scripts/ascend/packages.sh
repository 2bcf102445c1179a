# Everything is looked at before anything is changed.
for name in $files; do
    package_here "$name"
    echo "whole: $name"
done
mkdir -p "$notes"
printf '%s\n' "$files" >"$notes/packages-looked-at"
