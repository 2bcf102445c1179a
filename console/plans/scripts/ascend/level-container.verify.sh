[ "$(cat "$notes/container-looked" 2>/dev/null)" = "$image" ] || { echo 'No container was tried yet'; exit 1; }
