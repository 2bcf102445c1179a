# uses: cards_seen
found=$(timeout 60 npu-smi info 2>/dev/null | cards || true)
[ -n "$found" ] || { echo 'npu-smi shows no NPU'; exit 1; }
! printf '%s\n' "$found" | grep -v ' OK$'
