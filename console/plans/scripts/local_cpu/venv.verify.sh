[ -x "$py" ] || exit 1
exec "$py" -c 'import sys, pip; raise SystemExit(not ((3, 11) <= sys.version_info[:2] <= (3, 14)))'
