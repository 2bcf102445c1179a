# What was not installed by the console stays, so nothing is lost by whoever uses a card.
[ -e "$notes/driver" ] || [ -e "$notes/firmware" ] || exit 0
held=$(holders)
[ -z "$held" ] || { echo "In use:$held" | tr '\n' ';'; exit 1; }
