# uses: cards_seen
timeout 60 npu-smi info || fail "npu-smi does not answer, so the driver does not work; what it said is above. Look at \
the log of the kernel: dmesg | grep -i -e davinci -e drv_pcie"
table=$(timeout 60 npu-smi info)
bad=$(printf '%s\n' "$table" | cards | grep -v ' OK$' || true)
[ -z "$bad" ] || fail "Not every NPU is healthy: $bad"
found=$(printf '%s\n' "$table" | cards | wc -l)
on_bus=$(lspci -d 19e5: 2>/dev/null | grep -c 'Processing accelerators' || true)
[ "$found" -gt 0 ] || fail "The driver works, but it sees no NPU."
[ "${on_bus:-0}" -eq "$found" ] || echo "The PCI bus shows ${on_bus:-0} of them; on cards of two chips these numbers differ."
echo "$found NPUs, all of them healthy."
