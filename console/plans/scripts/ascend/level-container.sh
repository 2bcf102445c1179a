# uses: engine_words
cards_free "trying a container on the NPUs"
# The words hold paths of the plan, without blanks.
# shellcheck disable=SC2046
engine run --rm --name pilot-look --shm-size "${shm}g" $(device_words) $(volume_words) "$image" sh -c '
    npu-smi info || exit 3
    [ "$(df -Pk /dev/shm | tail -n 1 | while read -r _ size _; do echo "$size"; done)" -ge "$1" ] || exit 4' \
    sh "$((shm * 1000000))" >look.log 2>&1 || code=$?
cat look.log
case ${code:-0} in
    0) ;;
    3) fail "npu-smi does not answer inside the container; what it said is above. Another container may hold the cards." ;;
    4) fail "The container did not get its $shm GiB of shared memory." ;;
    *) fail "The container did not start; what the engine said is above." ;;
esac
noted container-looked "$image"
noted container-proved "$(engine inspect -f '{{.Id}}' "$image") $(running_driver)"
