"""The shell that receives files on a host: looks what is there, hashes, writes by offset, renames only when whole."""

COMMON = r"""
umask 077
digest() {  # openssl is about three times as fast as sha256sum
  if command -v openssl >/dev/null 2>&1; then openssl dgst -sha256 -r; else sha256sum; fi | cut -d ' ' -f 1
}
mark() { stat -c '%s %.9Y %.9Z %i' -- "$1"; }
beside() { printf '%s/.%s.sha256' "$(dirname -- "$1")" "$(basename -- "$1")"; }
known() { [ "$(cat -- "$(beside "$1")" 2>/dev/null)" = "$2 $(mark "$1")" ]; }
note() { printf '%s %s\n' "$2" "$(mark "$1")" >"$(beside "$1")"; }
"""

LOOK = (
    COMMON
    + r"""
mkdir -p -- "$folder" && cd -- "$folder" || exit 1
df -Pk . | awk 'NR == 2 { printf "%.0f\n", $4 * 1024 }'
while IFS= read -r name && IFS= read -r part && IFS= read -r size && IFS= read -r sum; do
  if [ -f "./$name" ]; then
    if [ "$(stat -c %s -- "./$name")" = "$size" ]; then
      if known "./$name" "$sum"; then echo whole 0; continue; fi
      if [ "$(digest <"./$name")" = "$sum" ]; then note "./$name" "$sum"; echo whole 0; continue; fi
    fi
  fi
  if [ -f "./$part" ]; then echo part "$(stat -c %s -- "./$part")"
  elif [ -e "./$name" ]; then echo other 0
  else echo nothing 0
  fi
done
"""
)
"""Reads name, part, size and SHA-256 of each file, one a line; prints the free bytes, and state and length of each."""

PREFIX = (
    COMMON
    + r"""
cd -- "$folder" && head -c "$length" -- "./$part" | digest
"""
)

WRITE = (
    COMMON
    + r"""
cd -- "$folder" && mkdir -p -- "$(dirname -- "./$name")" || exit 1
# never emptied while it may still be right: whoever else sends the same file writes the same bytes
if [ "$(stat -c %s -- "./$part" 2>/dev/null || echo 0)" -gt "$size" ]; then rm -f -- "./$part"; fi
said=$(LC_ALL=C dd of="./$part" bs=1M seek="$begin" oflag=seek_bytes iflag=fullblock conv=notrunc status=none 2>&1)
code=$?
if [ $code -ne 0 ]; then echo "$said" >&2; exit 1; fi
"""
)
"""Takes the bytes from `begin` on from standard input."""

CONFIRM = (
    COMMON
    + r"""
cd -- "$folder" || exit 1
finished() {  # whoever sent the same file at the same time may have been first
  [ -f "./$name" ] && [ ! -f "./$part" ] && [ "$(digest <"./$name")" = "$sum" ]
}
now=$(stat -c %s -- "./$part" 2>/dev/null || echo 0)
if [ "$now" -lt "$size" ]; then
  finished && exit 0
  echo "$now of $size bytes" >&2; exit 21
fi
if [ "$now" -gt "$size" ] || [ "$({ digest <"./$part"; } 2>/dev/null)" != "$sum" ]; then
  finished && exit 0
  rm -f -- "./$part"; exit 23
fi
mv -f -- "./$part" "./$name" 2>/dev/null || finished || { echo 'it could not be renamed' >&2; exit 1; }
note "./$name" "$sum"
"""
)
"""Hashes what was written and gives it its final name."""
