"""The frame of the probe: POSIX shell that runs commands side by side, each with its own time limit.

A host is asked some sixty questions, and starting a process costs it more than most answers. So each command is one
fork of this shell, with its output in a temporary folder; it says over a named pipe that it has ended, and all output
is printed by a single `cat`. Once a second a clock speaks up on that pipe too: a command over its limit is stopped
with everything below it and killed, and one that cannot be killed is left alone. The clock also ends everything should
this script itself be gone. Works in dash, bash and busybox.
"""

MOST_BYTES = 256 * 1024
"""Longest output kept of one command."""

SHELL = r"""# Reads facts about this machine. Changes nothing; its temporary folder is removed at the end.
token=%TOKEN%
export PILOT_LANG="${LC_ALL:-${LC_CTYPE:-${LANG:-}}}"
export LC_ALL=C
export PATH="$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
umask 077
%EXPORTS%
pilot_clock() {
  pilot_t=0.00
  read -r pilot_t pilot_rest </proc/uptime 2>/dev/null || pilot_t=$(date +%s).00
}

pilot_end() { # name code began ended late limit bytes
  printf '\n@@%s end %s code=%s began=%s ended=%s late=%s limit=%s bytes=%s@@\n' "$token" "$@"
}

pilot_d='' pilot_full=''
for pilot_room in "${TMPDIR:-/tmp}" /dev/shm "${XDG_RUNTIME_DIR:-}" "${HOME:-}"; do
  [ -n "$pilot_room" ] || continue
  pilot_d=$(mktemp -d "$pilot_room/pilot-probe.XXXXXX" 2>/dev/null) || pilot_d=''
  if [ -n "$pilot_d" ] && dd if=/dev/zero of="$pilot_d/room" bs=65536 count=8 2>/dev/null; then
    case $pilot_d in /*) ;; *) pilot_d=$PWD/$pilot_d ;; esac
    ! mkfifo "$pilot_d/ends" 2>/dev/null || break
  fi
  [ -z "$pilot_d" ] || rm -rf "$pilot_d"
  pilot_full="$pilot_full $pilot_room" pilot_d=''
done

pilot_clock
printf '@@%s begin probe@@\n' "$token"
printf 'folder=%s\nfull=%s\n' "$pilot_d" "${pilot_full# }"
pilot_end probe 0 "$pilot_t" "$pilot_t" 0 0 0
if [ -z "$pilot_d" ]; then
  printf 'No temporary folder can be written:%s\n' "$pilot_full" >&2
  exit 74
fi

pilot_tree() { # pid: it and everything below it, into $pilot_family
  pilot_family=" $1 " pilot_grown=yes
  pilot_all=$(cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^\([0-9]*\) (.*) [A-Za-z] \([0-9]*\) .*/\1:\2/p')
  while [ -n "$pilot_grown" ]; do
    pilot_grown=''
    for pilot_one in $pilot_all; do
      case $pilot_family in
        *" ${pilot_one%:*} "*) ;;
        *" ${pilot_one#*:} "*) pilot_family="$pilot_family${pilot_one%:*} " pilot_grown=yes ;;
      esac
    done
  done
}
pilot_stop() { # name: who is stopped starts nothing any more, so that nobody gets away
  eval "pilot_top=\$pilot_job_$1"
  pilot_before=''
  pilot_tree "$pilot_top"
  while [ "$pilot_family" != "$pilot_before" ]; do
    pilot_before=$pilot_family
    kill -STOP $pilot_family
    pilot_tree "$pilot_top"
  done 2>/dev/null
  kill -KILL $pilot_family 2>/dev/null
}
pilot_end_all() {
  for pilot_n in $pilot_left; do pilot_stop "$pilot_n"; done
  [ -z "$pilot_ticker" ] || kill "$pilot_ticker" 2>/dev/null
}
pilot_left='' pilot_names='' pilot_ticker=''
trap 'rm -rf "$pilot_d"' EXIT
trap 'pilot_end_all; exit 129' HUP INT TERM PIPE
exec 3<>"$pilot_d/ends"

ask() { # name limit command
  pilot_clock
  eval "pilot_late_$1=0 pilot_limit_$1=$2 pilot_code_$1='' pilot_ended_$1='' pilot_bytes_$1=0"
  eval "pilot_began_$1=$pilot_t pilot_stop_$1=$((${pilot_t%.*} + $2 + 1))"
  printf '@@%s begin %s@@\n' "$token" "$1" >"$pilot_d/$1.out"
  (
    pilot_name=$1 pilot_command=$3
    shift 3
    trap 'pilot_code=$?; pilot_clock; echo "end $pilot_name $pilot_code $pilot_t" 1<>"$pilot_d/ends"' EXIT
    ulimit -f 8192 2>/dev/null
    eval "$pilot_command"
  ) >>"$pilot_d/$1.out" 2>&1 </dev/null 3>&- &
  eval "pilot_job_$1=$!"
  pilot_names="$pilot_names $1"
}

%ASKS%
pilot_left="$pilot_names probe " pilot_stop_probe=$((${pilot_t%.*} + 60))
( # the clock; until it has a trap of its own, a shell might obey that of its parent
  trap 'kill "$pilot_nap" 2>/dev/null; exit 0' TERM
  echo 'end probe 0 0' >&3
  while :; do
    sleep 1 3>&- &
    pilot_nap=$!
    wait "$pilot_nap" || exit 0
    if kill -0 $$ 2>/dev/null; then echo tick >&3; else break; fi
  done
  pilot_ticker=''
  pilot_end_all
  rm -rf "$pilot_d"
) >/dev/null 2>&1 </dev/null &
pilot_ticker=$!

while [ -n "${pilot_left# }" ]; do
  read -r pilot_what pilot_n pilot_code pilot_t <&3 || pilot_what=tick
  if [ "$pilot_what" = end ]; then
    eval "pilot_code_$pilot_n=$pilot_code pilot_ended_$pilot_n=$pilot_t"
    pilot_left="${pilot_left%% $pilot_n *} ${pilot_left#* $pilot_n }"
    continue
  fi
  pilot_clock
  for pilot_n in $pilot_left; do
    eval "pilot_stop=\$pilot_stop_$pilot_n"
    if [ "${pilot_t%.*}" -ge "$pilot_stop" ]; then
      eval "pilot_late_$pilot_n=1 pilot_ended_$pilot_n=$pilot_t"
      pilot_stop "$pilot_n"
      pilot_left="${pilot_left%% $pilot_n *} ${pilot_left#* $pilot_n }"
    fi
  done
done
kill "$pilot_ticker" 2>/dev/null

cd "$pilot_d" || exit 74
: >room # what was tried before is free now for the ends of the sections
wc -c *.out >sizes
while read -r pilot_bytes pilot_n; do
  case $pilot_n in *.out) eval "pilot_bytes_${pilot_n%.out}=$pilot_bytes" ;; esac
done <sizes
pilot_parts='' pilot_frame="@@$token begin @@."
for pilot_n in $pilot_names; do
  pilot_head=$((${#pilot_frame} + ${#pilot_n}))
  eval "pilot_bytes=\$((pilot_bytes_$pilot_n - pilot_head))"
  pilot_file=$pilot_n.out
  if [ "$pilot_bytes" -gt %MOST_BYTES% ]; then
    head -c "$((%MOST_BYTES% + pilot_head))" "$pilot_file" >"$pilot_n.cut"
    pilot_file=$pilot_n.cut
  fi
  eval "pilot_end $pilot_n \"\$pilot_code_$pilot_n\" \$pilot_began_$pilot_n \"\$pilot_ended_$pilot_n\" \
    \$pilot_late_$pilot_n \$pilot_limit_$pilot_n $pilot_bytes" >>"$pilot_file"
  pilot_parts="$pilot_parts $pilot_file"
done
cat $pilot_parts
cd /
exit 0
"""
