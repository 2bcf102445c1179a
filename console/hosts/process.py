"""Long commands that outlive everything: detached on the host, each in a folder of its own.

The folder holds `cmd.sh` (what runs), `log` (what it printed), `pid` (leader, start time, boot) and, once it ended,
`code`. Nobody has to be connected meanwhile; whoever comes next reads on from a byte offset. The leader starts a
session of its own, so that everything it starts can be found and ended by that session.
"""

import base64
import shlex
from dataclasses import dataclass
from enum import StrEnum

from console.errors import Conflict, HostError
from console.hosts.runner import Runner
from console.text import say

LOG_CHUNK = 262_144
"""Bytes of log fetched per look."""


class Life(StrEnum):
    ABSENT = "absent"  # never started
    RUNNING = "running"
    EXITED = "exited"  # `code` was written
    GONE = "gone"  # no exit code and no process: killed with its leader, or the host restarted


@dataclass(frozen=True)
class Look:
    """One look at a detached command: `code` only when exited, `log` the bytes after the asked offset.

    asks   pid of the sudo in it that waits for a password (see console/hosts/sudo.py)
    """

    life: Life
    code: int | None
    log: bytes
    log_size: int
    asks: str | None = None


class Detached:
    """One detached command of one host, by its folder."""

    def __init__(self, runner: Runner, folder: str) -> None:
        self.runner, self.folder = runner, folder

    def start(self, script: str) -> None:
        """Start `script`, once per folder: a second start raises Conflict, whoever makes it."""
        words = script.encode()
        outcome = self.runner.run(f"size={len(words)}\n" + _with_folder(START, self.folder), stdin=words)
        if outcome.code == ALREADY_THERE:
            raise Conflict(say("This command was already started in {folder}.", folder=self.folder))
        if outcome.code != 0:
            raise HostError(
                say(
                    "A command could not be started in {folder}: {error}. Check that the folder can be written and its "
                    "disk has room, then try again.",
                    folder=self.folder,
                    error=outcome.err.strip() or f"exit code {outcome.code}",
                )
            )

    def look(self, offset: int = 0, *, timeout_s: float = 30) -> Look:
        """What became of it, and its log from byte `offset` on, at most LOG_CHUNK bytes."""
        asked = f"{offset} {LOG_CHUNK}\n".encode()  # not in the script, so that a follower's looks are one command
        outcome = self.runner.run(_with_folder(LOOK, self.folder), timeout_s=timeout_s, stdin=asked)
        if outcome.code != 0:
            raise HostError(
                say("The folder {folder} could not be read: {error}", folder=self.folder, error=outcome.err)
            )
        head, _, log = outcome.out.partition("\n")
        life, code, size, asks = head.split()
        told = None if code == "-" else int(code)
        return Look(Life(life), told, _exact(log), int(size), asks if asks.isdecimal() else None)

    def stop(self, grace_s: int = 15) -> None:
        """End the command and everything it started: TERM, `grace_s` seconds, then KILL. Nothing there is fine."""
        outcome = self.runner.run(f"grace={grace_s}\n" + _with_folder(STOP, self.folder), timeout_s=grace_s + 30)
        if outcome.code != 0:
            raise HostError(
                say(
                    "Some processes of {folder} did not end: {error}. End them by hand, or restart the host.",
                    folder=self.folder,
                    error=outcome.err.strip() or outcome.out.strip(),
                )
            )


def _with_folder(script: str, folder: str) -> str:
    return f"folder={shlex.quote(folder)}\n{script}"


def _exact(log: str) -> bytes:
    """The log came base64-encoded, so that any byte survives the way."""
    return base64.b64decode(log)


ALREADY_THERE = 98

START = r"""
umask 077
mkdir -p "$folder" && cd "$folder" || exit 97
mkdir started 2>/dev/null || { [ -d started ] && exit 98; echo 'cannot write there' >&2; exit 97; }
cat > cmd.sh || { rmdir started; exit 97; }
[ "$(wc -c < cmd.sh)" -eq "$size" ] || { rmdir started; echo 'the script did not arrive whole' >&2; exit 97; }
cat > leader.sh <<'LEADER' || { rmdir started; exit 97; }
trap 'exit 143' TERM
trap 'exit 130' INT
trap '' HUP
echo 0000 > code.part  # the room for the code: it is written over in place, also on a disk that is full by then
trap 'code=$?; printf "%-4s\n" $code 1<> code.part; mv code.part code' EXIT
stat=$(cat /proc/$$/stat); stat=${stat##*) }; set -- $stat
echo "$$ ${20} $(cat /proc/sys/kernel/random/boot_id)" > pid.part && mv pid.part pid
sh ./cmd.sh &
child=$!
wait $child; code=$?
while kill -0 $child 2>/dev/null && [ $code -gt 128 ]; do wait $child; code=$?; done
exit $code
LEADER
setsid sh ./leader.sh > log 2>&1 < /dev/null &
i=0
while [ ! -s pid ] && [ ! -s code ] && [ $i -lt 100 ]; do i=$((i+1)); sleep 0.05; done
[ -s pid ] || [ -s code ] || { echo 'it did not come up' >&2; exit 97; }
"""

WHO_LIVES = r"""
members() {  # every process of the session $1 that is not a zombie, as pids
  cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^\([0-9]*\) (.*) \([A-Z]\) [0-9-]* [0-9-]* \([0-9-]*\) .*/\1 \2 \3/p' |
    while read -r pid state session; do
      [ "$session" = "$1" ] && [ "$state" != Z ] && [ "$state" != X ] && echo "$pid"
    done
}
leader_lives() {  # the process that wrote `pid` is still that process
  [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ] || return 1
  stat=$(cat /proc/"$leader"/stat 2>/dev/null) || return 1
  stat=${stat##*) }; set -- $stat
  [ "$1" != Z ] && [ "${20}" = "$born" ]
}
"""

LOOK = (
    WHO_LIVES
    + r"""
read -r offset chunk
report() {
  set -- "$1" "$2" sudo-asked.*
  asks=${3#sudo-asked.}
  case $asks in *[!0-9]* | '') asks=- ;; esac
  echo "$1 $2 $(wc -c < log 2>/dev/null || echo 0) $asks"
  tail -c +$((offset+1)) log 2>/dev/null | head -c "$chunk" | base64
  exit 0
}
cd "$folder" 2>/dev/null || { echo 'absent - 0 -'; exit 0; }
[ -d started ] || report absent -
[ -s code ] && report exited "$(cat code)"
if [ ! -s pid ]; then  # either it is just being started, or its start was killed half-way
  [ $(($(date +%s) - $(stat -c %Y started))) -lt 15 ] && report running -
  report gone -
fi
read -r leader born boot < pid
leader_lives && report running -
[ -s code ] && report exited "$(cat code)"
[ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ] && [ -n "$(members "$leader")" ] && report running -
report gone -
"""
)

STOP = (
    WHO_LIVES
    + r"""
cd "$folder" 2>/dev/null || exit 0
[ -s pid ] || exit 0
read -r leader born boot < pid
[ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ] || exit 0
if [ -e /proc/"$leader"/stat ] && ! leader_lives && [ -z "$(members "$leader")" ]; then exit 0; fi
kill -TERM -"$leader" 2>/dev/null
i=0
while [ -n "$(members "$leader")" ] && [ $i -lt $((grace*5)) ]; do i=$((i+1)); sleep 0.2; done
for pid in $(members "$leader"); do kill -KILL "$pid" 2>/dev/null; done
i=0
while [ -n "$(members "$leader")" ] && [ $i -lt 50 ]; do i=$((i+1)); sleep 0.2; done
left=$(members "$leader")
[ -z "$left" ] || { echo "still alive: $left" >&2; exit 1; }
[ -s code ] || { printf '%-4s\n' 137 1<> code.part && mv code.part code; }
"""
)
