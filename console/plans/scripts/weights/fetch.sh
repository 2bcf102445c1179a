# Every file of the list in .pilot-files: resumed at the byte, checked, and only then given its name.
umask 022
cd -- "$folder" || exit 1
tab=$(printf '\t')
total=$(awk -F "$tab" '{ n += $1 } END { printf "%.0f", n }' .pilot-files)
before=0
told=0
tell() {  # NAME BYTES: how far everything is
  awk -v n=$((before + $2)) -v all="$total" -v name="$1" \
    'BEGIN { printf "%d %%  %.2f of %.2f GB  %s\n", all ? 100 * n / all : 100, n / 1e9, all / 1e9, name }'
}
full() {
  echo "the disk of $folder is full: free some room and resume; what came is kept" >&2
  exit 28
}
attempt() {  # SIZE URL PART NAME: go on at the end of PART; the state of the client
  client "$2" "$(size_of "$3")" "$3" ".pilot-head" >.pilot-status 2>.pilot-said &
  pid=$!
  while kill -0 $pid 2>/dev/null; do
    sleep 0.2
    now=$(date +%s)
    [ $((now - told)) -ge 5 ] && told=$now && tell "$4" "$(size_of "$3")"
  done
  wait $pid
}
bring() {  # SIZE URL PART NAME
  failed=0
  while :; do
    had=$(size_of "$3")
    [ "$had" -le "$1" ] || { rm -f -- "$3"; had=0; }
    [ "$had" -lt "$1" ] || return 0
    attempt "$1" "$2" "$3" "$4"
    code=$?
    status=$(head -n 1 .pilot-status)
    [ $code -eq 0 ] && [ "$(size_of "$3")" = "$1" ] && return 0
    [ $code -le 128 ] || exit $code  # somebody ends this job: the next attempt must not begin
    case $code:$status in
      127:*) cat .pilot-said >&2; exit 127 ;;
      23:*) full ;;
      33:* | *:416) rm -f -- "$3" ;;
      22:401 | 22:403)
        echo "$4: HTTP $status. The model is gated or private: accept its terms on the page of the hub, then log in on \
this host with the hub's own tool (or set HF_TOKEN or MODELSCOPE_API_TOKEN) and resume" >&2
        exit 21 ;;
      22:404) echo "$4: HTTP 404, it is not there (any more): list the files anew" >&2; exit 22 ;;
    esac
    if [ "$(size_of "$3")" -gt "$had" ]; then failed=0; else failed=$((failed + 1)); fi
    echo "$4: cut at $(size_of "$3") of $1 bytes: $(tail -n 1 .pilot-said)"
    if [ $failed -ge 5 ]; then
      echo "$4: nothing new came five times in a row; resume later, what came is kept" >&2
      exit 23
    fi
    sleep $((failed * 2))
  done
}
while IFS="$tab" read -r size sum url path <&3; do
  if ! good "./$path" "$size" "$sum"; then
    mkdir -p -- "$(dirname -- "./$path")" && : >>"./$path.part" || full
    bring "$size" "$url" "./$path.part" "$path"
    if ! good "./$path.part" "$size" "$sum"; then
      rm -f -- "./$path.part"
      echo "$path arrived with another checksum than the hub names, and was thrown away: resume to fetch it again, or \
take another mirror" >&2
      exit 24
    fi
    rm -f -- "$(beside "./$path.part")"
    mv -f -- "./$path.part" "./$path" || full
    if [ ${#sum} -eq 64 ]; then note "./$path" "$sum" || full; fi
  fi
  tell "$path" "$size"
  before=$((before + size))
done 3<.pilot-files
rm -f .pilot-head .pilot-status .pilot-said
