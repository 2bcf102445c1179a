# uses: clear_partial which_torch ask tenths
broken_off() {
    fail "PyTorch could not be installed; what pip said is above. Check the network and the room ($(free_mib) MiB are free \
in $work), then run this job again."
}

scratch
clear_partial
room 1500 "PyTorch"
# Short patience here: in many places this index is out of reach. A folder named in pip's settings counts as well.
offer=$(which_torch "$torch_version" --index-url "$cpu_index" --timeout 5 --retries 0) || offer=''
case "$offer" in
*'"from": "/'*) ;;
*+cpu*)
    echo "Taking $offer"
    logged_pip install --no-deps --only-binary :all: --index-url "$cpu_index" "torch==$torch_version" && exit 0
    echo "$cpu_index broke off; asking the package index of this host." ;;
*) echo "$cpu_index cannot be reached from here or lacks this version; asking the package index of this host." ;;
esac
offer=$(which_torch "$torch_version") || fail "No torch $torch_version for this Python was found, neither on \
$cpu_index nor on the package index of this host (pip config list shows which). Put the file \
torch-$torch_version+cpu for this Python into a folder, name it in PIP_FIND_LINKS, and run this job again."
echo "The package index of this host offers: $offer"
case "$offer" in
*+cpu*)
    logged_pip install --no-deps --only-binary :all: "torch==$torch_version" || broken_off
    exit 0 ;;
esac
case "${PILOT_ANSWER:-}" in
yes) ;;
'') ask "$offer" "$question" "$cpu_index" >ask; exit 75 ;;
*) fail "PyTorch was not installed, because the offered build was declined. Make $cpu_index reachable, or put the file \
torch-$torch_version+cpu for this Python into a folder and name it in PIP_FIND_LINKS, then run this job again." ;;
esac
room 9000 "PyTorch with the NVIDIA libraries"
logged_pip install --only-binary :all: "torch==$torch_version" || broken_off
