[ -d "/lib/modules/$(uname -r)/build" ] || { echo "No headers of kernel $(uname -r)"; exit 1; }
