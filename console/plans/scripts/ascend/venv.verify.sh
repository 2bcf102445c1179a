[ -x "$py" ] || { echo "There is no environment at $venv"; exit 1; }
"$py" -c 'import sys, pip; raise SystemExit("%d.%d" % sys.version_info[:2] != sys.argv[1])' "$python"
[ "$(cat "$venv/pilot-stack" 2>/dev/null)" = "$stack" ] || { echo 'The environment was made for another stack'; exit 1; }
