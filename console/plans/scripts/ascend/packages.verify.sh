# Reading gigabytes for a checksum is left to the step; each installer is asked once more before it runs.
[ -z "$files" ] || [ "$(cat "$notes/packages-looked-at" 2>/dev/null)" = "$files" ] || { echo 'Not looked at yet'; exit 1; }
