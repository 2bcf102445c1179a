# One answer of the hub: status, header Link, an empty line, then the body.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=$(client "$url" 0 "$work/body" "$work/head" 2>"$work/said")
code=$?
printf '%s %s\n' "$code" "${status:-0}"
: >>"$work/head"
tr -d '\r' <"$work/head" | sed -n 's/^[Ll][Ii][Nn][Kk]: *//p' | tail -n 1
echo
if [ $code -eq 0 ]; then cat "$work/body"; else tail -c 500 "$work/said" >&2; fi
exit 0
