"""Thin out pip's raw progress on stdin: `Progress 123 of 456` becomes one line for each tenth."""

import re
import sys

last = -1
for line in sys.stdin:
    found = re.match(r"Progress (\d+) of (\d+)", line)
    if not found:
        last = -1
        print(line, end="", flush=True)
        continue
    done, total = int(found[1]), int(found[2]) or 1
    if done * 10 // total != last:
        last = done * 10 // total
        print(f"     {done / 1e6:.1f} of {total / 1e6:.1f} MB", flush=True)
