[ ! -e "$venv" ] || { echo "$venv is there"; exit 1; }
