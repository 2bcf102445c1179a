"""Who listens on a port of a host's loopback: a detached command of ours, somebody else, or nobody."""

import shlex
from dataclasses import dataclass

from console.errors import HostError
from console.hosts.process import WHO_LIVES, Detached
from console.text import say


@dataclass(frozen=True)
class Holder:
    """A process that listens there and is not ours; both are "" where this user may not see whose it is."""

    pid: str = ""
    name: str = ""


@dataclass(frozen=True)
class Listening:
    """`ours`: a process of the command's session listens; `others`: those that do too, or instead.

    Both can be: vLLM opens its port with SO_REUSEPORT, so two of one user share it and get every other connection.
    """

    ours: bool
    others: tuple[Holder, ...] = ()


def listening(command: Detached, port: int) -> Listening:
    """Ask the host once which processes listen where a connection to 127.0.0.1:`port` arrives.

    Only sockets of the user's own processes can be told from each other; ours are always among them.
    """
    outcome = command.runner.run(f"folder={shlex.quote(command.folder)} port={port}\n{WHO_LIVES}{WHO_LISTENS}")
    lines = [line.split(" ", 2) for line in outcome.out.splitlines()]
    if outcome.code != 0 or ["done"] not in lines:
        raise HostError(
            say(
                "Who listens on port {port} could not be read: {error}",
                port=str(port),
                error=outcome.err.strip() or f"exit code {outcome.code}",
            )
        )
    others = tuple(Holder(*(word for word in line[1:] if word != "-")) for line in lines if line[0] == "other")
    return Listening(["ours"] in lines, tuple(dict.fromkeys(others)))


WHO_LISTENS = r"""
[ -r /proc/net/tcp ] || { echo 'there is no /proc/net/tcp' >&2; exit 1; }
sockets() {  # the sockets that the processes named have open, one inode a line
  for pid; do ls -l /proc/"$pid"/fd 2>/dev/null; done | sed -n 's/.* -> socket:\[\([0-9]*\)\]$/\1/p'
}
there() {  # inodes of what listens on 127.0.0.1, on every address, or on both kinds of address at once
  hex=$(printf '%04X' "$port")
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | while read -r _ at _ state _ _ _ _ _ inode _; do
    [ "$state" = 0A ] || continue
    case $at in
      0100007F:"$hex" | 00000000:"$hex" | 00000000000000000000000000000000:"$hex") echo "$inode" ;;
      0000000000000000FFFF00000100007F:"$hex" | 0000000000000000FFFF000000000000:"$hex") echo "$inode" ;;
    esac
  done
}
leader=none
cd "$folder" && [ -s pid ] && read -r leader _ < pid
mine=$(sockets $(members "$leader"))
foreign=''
for inode in $(there); do
  case " $(echo $mine) " in *" $inode "*) echo ours ;; *) foreign="$foreign $inode" ;; esac
done
for inode in $foreign; do
  who=''
  for at in /proc/[0-9]*; do
    [ -r "$at/fd" ] || continue
    ls -l "$at/fd" 2>/dev/null | grep -q "socket:\[$inode\]" || continue
    who="${at#/proc/} $(cat "$at/comm" 2>/dev/null || echo -)"
    break
  done
  echo "other ${who:-- -}"
done
echo done
"""
