"""The frame of the probe: POSIX shell that runs commands side by side, each with its own time limit.

Every command runs in the background with its output in a temporary folder; a loop watches the clock (/proc/uptime, so
that no process is started for it) and goes on without a command that cannot be ended. `timeout` ends a command even if
this script itself is gone; where it is missing, the loop kills the command's session. Works in dash, bash and busybox.
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
clock() {
  t=0.00
  read -r t rest </proc/uptime 2>/dev/null || t=$(date +%s).00
}

section() { # name code began ended late limit bytes
  printf '\n@@%s end %s code=%s began=%s ended=%s late=%s limit=%s bytes=%s@@\n' "$token" "$@"
}

d='' full=''
for room in "${TMPDIR:-/tmp}" /dev/shm "${XDG_RUNTIME_DIR:-}" "${HOME:-}"; do
  [ -n "$room" ] || continue
  d=$(mktemp -d "$room/pilot-probe.XXXXXX" 2>/dev/null) || d=''
  if [ -n "$d" ] && dd if=/dev/zero of="$d/room" bs=65536 count=8 2>/dev/null; then
    rm -f "$d/room"
    break
  fi
  [ -z "$d" ] || rm -rf "$d"
  full="$full $room" d=''
done

clock
printf '@@%s begin probe@@\n' "$token"
printf 'folder=%s\nfull=%s\n' "$d" "${full# }"
section probe 0 "$t" "$t" 0 0 0
if [ -z "$d" ]; then
  printf 'No temporary folder can be written:%s\n' "$full" >&2
  exit 74
fi

end_all() {
  for n in $left; do stop_one "$n"; done
}
stop_one() { # first the job itself, so that it starts nothing any more
  eval "kill -9 \$job_$1" 2>/dev/null
  read -r p <"$d/$1.pid" 2>/dev/null || return 0
  kill -9 "-$p" 2>/dev/null && return 0
  kids=''
  read -r kids <"/proc/$p/task/$p/children" 2>/dev/null
  kill -9 "$p" $kids 2>/dev/null
  return 0
}
left=''
trap 'rm -rf "$d"' EXIT
trap 'end_all; exit 129' HUP INT TERM PIPE

limiter=none
if timeout -k 1 5 true 2>/dev/null; then limiter='timeout -k 1'
elif timeout 5 true 2>/dev/null; then limiter=timeout; fi
own=''
if setsid true 2>/dev/null; then own=setsid; fi

ask() { # name limit command
  clock
  whole=${t%.*}
  eval "late_$1=0 limit_$1=$2 stop_$1=$((whole + $2 + 2))"
  [ "$limiter" != none ] || eval "stop_$1=$((whole + $2 + 1))"
  (
    clock
    began=$t
    ulimit -f 8192 2>/dev/null
    if [ "$limiter" = none ]; then
      $own sh -c "$3" >"$d/$1.out" 2>&1 </dev/null &
    else
      $limiter "$2" sh -c "$3" >"$d/$1.out" 2>&1 </dev/null &
    fi
    echo "$!" >"$d/$1.pid"
    wait "$!"
    code=$?
    clock
    echo "$code $began $t" >"$d/$1.end"
  ) >/dev/null 2>&1 </dev/null &
  eval "job_$1=$!"
  names="$names $1"
}

names=''
%ASKS%
tick=0.03
sleep 0.01 2>/dev/null || tick=1
left=$names
while [ -n "$left" ]; do
  clock
  still=''
  for n in $left; do
    [ ! -s "$d/$n.end" ] || continue
    eval "stop=\$stop_$n"
    if [ "${t%.*}" -lt "$stop" ]; then
      still="$still $n"
    else
      eval "late_$n=1"
      stop_one "$n"
    fi
  done
  left=$still
  [ -z "$left" ] || sleep "$tick"
done

for n in $names; do
  code='' began='' ended=''
  if [ -s "$d/$n.end" ]; then read -r code began ended <"$d/$n.end"; fi
  eval "limit=\$limit_$n late=\$late_$n"
  printf '@@%s begin %s@@\n' "$token" "$n"
  bytes=0
  if [ -f "$d/$n.out" ]; then
    bytes=$(wc -c <"$d/$n.out")
    head -c %MOST_BYTES% "$d/$n.out"
  fi
  section "$n" "$code" "$began" "$ended" "$late" "$limit" "$((bytes))"
done
exit 0
"""
