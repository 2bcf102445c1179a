# cards: number, name and health of each NPU, from the table of npu-smi on standard input.
cards() {
    awk -F'|' '/Process id/ {exit} $2 ~ /^ *[0-9]+ +[0-9A-Za-z]*[A-Za-z][0-9A-Za-z]*/ {split($2, a, " "); split($3, b, " "); print a[1], a[2], b[1]}'
}
