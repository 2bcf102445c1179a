# What was not installed by the console stays, so nothing is lost by whoever uses a card.
[ -e "$notes/driver" ] || [ -e "$notes/firmware" ] || exit 0
held=$(holders | sed 's/^ *//' | paste -sd ';' -)
[ -z "$held" ] || { echo "Cards are in use: $held"; exit 1; }
