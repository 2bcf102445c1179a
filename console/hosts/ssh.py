"""A host over SSH: commands with their whole output, files, and ports of its loopback."""

import base64
import re
import secrets
import select
import shlex
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from paramiko import Channel

from console.errors import CommandTimeout, HostError, unreadable
from console.hosts import trouble
from console.hosts.apart import REFUSED, Apart, beside
from console.hosts.connection import Connection
from console.hosts.keys import Password, Passwords
from console.hosts.piece import Piece
from console.hosts.reach import Reach, spot
from console.hosts.runner import Outcome, not_copied
from console.text import say, verbatim

KILL_S = 10.0
CHUNK = 65_536
BLOCK = 1_048_576


class SshRunner:
    """Runs scripts on a host over an SSH connection, which it may share with others. Satisfies Runner."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.reach = connection, connection.reach

    def run(self, script: str, *, timeout_s: float = 30, stdin: bytes = b"") -> Outcome:
        return self._run(script, timeout_s, [stdin])

    def put(self, source: Path, target: str, *, timeout_s: float = 600) -> None:
        """Copy a file of this machine to `target` on the host, whole or not at all. Mode 0600, parents are made."""
        words = shlex.quote(target)
        script = (
            f'umask 077; mkdir -p "$(dirname {words})" && cat > {words}.part && '
            f'[ "$(wc -c < {words}.part)" -eq {_size(source)} ] && mv {words}.part {words}'
        )
        outcome = self._run(script, timeout_s, _blocks(source))
        if outcome.code != 0:
            error = outcome.err.strip() or f"exit code {outcome.code}"
            raise not_copied(source, target, verbatim(str(self.reach)), error)

    def feed(self, script: str, piece: Piece, *, timeout_s: float) -> Outcome:
        return self._run(script, timeout_s, piece, here=True)

    @contextmanager
    def apart(self) -> Iterator[Apart | None]:
        if isinstance(self.connection.password, Password) or self.reach in REFUSED:  # typed: known here alone
            yield None
            return
        with self.connection.kept(), beside(self.reach) as one:
            yield one

    def _run(
        self, script: str, timeout_s: float, stdin: Iterable[bytes | memoryview], *, here: bool = False
    ) -> Outcome:
        began, token = time.monotonic(), f"pilot-{secrets.token_hex(8)}"
        with self.connection.session(timeout_s) as channel:
            said = _Said(channel, token, str(self.reach))
            try:
                said.run(script, stdin, timeout_s, here=here)
            except TimeoutError as error:
                raise self._ended(said.session_id(), timeout_s) from error
            except trouble.BROKEN as error:
                raise trouble.dropped(str(self.reach), len(said.out)) from error
        code, out, err = said.outcome()
        return Outcome(code, out, err, time.monotonic() - began)

    def address(self, port: int) -> str:
        return self.connection.tunnel(port).address

    def _ended(self, session: str, timeout_s: float) -> CommandTimeout:
        """End what runs in that session of the host, over a connection of its own: the other one may be stuck."""
        where, limit = str(self.reach), round(timeout_s)
        try:
            if not session.isdecimal():
                raise HostError(say("it was not told how to find it"))
            _kill(self.reach, self.connection.password, session)
        except HostError as error:
            return CommandTimeout(
                say(
                    "A command on {where} took longer than {limit} s. Whether it was ended is not known: {why}",
                    where=where,
                    limit=limit,
                    why=error.text,
                )
            )
        return CommandTimeout(
            say("A command on {where} took longer than {limit} s and was ended.", where=where, limit=limit)
        )


class _Said:
    """What comes back from one command: both streams, and whose they are."""

    def __init__(self, channel: Channel, token: str, where: str) -> None:
        self.channel, self.token, self.where = channel, token, where
        self.out, self.err = bytearray(), bytearray()

    def run(self, script: str, stdin: Iterable[bytes | memoryview], timeout_s: float, *, here: bool = False) -> None:
        """Start `script`, send it `stdin`, take everything until it has ended. TimeoutError after `timeout_s`.

        With `here` the input is taken and sent by this thread, for a script that says little before it has read it all:
        what `stdin` raises is then passed on.
        """
        until = time.monotonic() + timeout_s
        self.channel.settimeout(timeout_s)
        guard = threading.Timer(timeout_s, self.channel.close)  # paramiko waits for ever for a host that hangs here
        guard.daemon = True
        guard.start()
        try:
            self.channel.exec_command(wrapped(script, self.token))
        except trouble.BROKEN as error:
            if time.monotonic() >= until:
                raise TimeoutError from error
            raise
        finally:
            guard.cancel()
        if here:
            self._feed(stdin)
            self._end_input()
        else:
            threading.Thread(target=self._feed_quietly, args=(stdin,), daemon=True).start()
        self._listen(until)

    def _listen(self, until: float) -> None:
        waiting = select.poll()
        waiting.register(self.channel.fileno(), select.POLLIN)
        while True:
            ended = self.channel.closed or self.channel.eof_received
            self._take()
            if ended:
                break
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            waiting.poll(min(left, 3600) * 1000)
        if not self.channel.status_event.wait(max(0.1, until - time.monotonic())):
            raise TimeoutError

    def _take(self) -> None:
        while self.channel.recv_ready():
            self.out += self.channel.recv(CHUNK)
        while self.channel.recv_stderr_ready():
            self.err += self.channel.recv_stderr(CHUNK)

    def _feed(self, stdin: Iterable[bytes | memoryview]) -> None:
        """Errors of the channel are no news: the command ended early, or the listener sees the connection go."""
        for block in stdin:
            try:  # as a view: of bytes the rest would be copied once per packet
                self.channel.sendall(memoryview(block))  # type: ignore[arg-type]
            except trouble.BROKEN:
                break

    def _end_input(self) -> None:
        with suppress(*trouble.BROKEN):
            self.channel.shutdown_write()

    def _feed_quietly(self, stdin: Iterable[bytes | memoryview]) -> None:
        """In a thread of its own, where nobody hears what `stdin` raises: the script misses the rest."""
        with suppress(OSError):
            self._feed(stdin)
        self._end_input()

    def session_id(self) -> str:
        found = re.search(rf"^{self.token} (\d+)$", self.err.decode("utf-8", "replace"), re.MULTILINE)
        return found[1] if found else ""

    def outcome(self) -> tuple[int, str, str]:
        """Exit code and what the script itself printed, without what a login shell's start files said before."""
        code = self.channel.exit_status
        transport = self.channel.get_transport()
        if code < 0 and not transport.is_active():
            raise trouble.dropped(self.where, len(self.out))
        out, err = self.out.decode("utf-8", "replace"), self.err.decode("utf-8", "replace")
        _, begun, printed = out.partition(f"{self.token}\n")
        if not begun:
            raise trouble.no_shell(self.where, out + err)
        if code < 0:
            raise HostError(say("A command on {where} was killed there before it had an exit code.", where=self.where))
        return code, printed, err.partition(f"{self.token} ")[2].partition("\n")[2]


def wrapped(script: str, token: str) -> str:
    """One line that any login shell passes on: it tells the session's id, then runs `script` with sh.

    The token in front of both streams tells the script's own output from that of the login shell's start files.
    """
    coded = base64.b64encode(script.encode()).decode()
    return (
        f"sh -c 'cd /; stat=$(cat /proc/$$/stat 2>/dev/null); stat=${{stat##*) }}; set -- $stat; "
        f'echo {token}; echo {token} "$4" >&2; sh -c "$(echo {coded} | base64 -d)"; exit $?\''
    )


def _size(source: Path) -> int:
    try:
        return source.stat().st_size
    except OSError as error:
        raise unreadable(source, error) from error


def _blocks(source: Path) -> Iterator[bytes]:
    with source.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def _kill(reach: Reach, password: Password | Passwords | None, session: str) -> None:
    try:
        with Connection(reach, password) as own, own.session(KILL_S) as channel:
            said = _Said(channel, f"pilot-{secrets.token_hex(8)}", str(reach))
            said.run(f"session={session}\n{KILL}", (), KILL_S)
            if said.outcome()[0] != 0:
                raise HostError(say("some of its processes cannot be ended"))
    except (TimeoutError, *trouble.BROKEN) as error:
        raise HostError(say("{where} does not answer", where=spot(reach.address, reach.port))) from error


KILL = r"""
tree() {  # every living process of the session and whatever descends from one, as pids
  all=$(cat /proc/[0-9]*/stat 2>/dev/null |
    sed -n 's/^\([0-9]*\) (.*) [A-WY] \([0-9-]*\) [0-9-]* \([0-9-]*\) .*/\1 \2 \3/p')
  found=' ' grown=yes
  while [ -n "$grown" ]; do
    grown=''
    while read -r pid parent its; do
      case "$found" in *" $pid "*) continue ;; esac
      case "$found" in *" $parent "*) its=$session ;; esac
      [ "$its" = "$session" ] && found="$found$pid " grown=yes
    done <<EOF
$all
EOF
  done
  echo $found
}
i=0 left=$(tree)
while [ -n "$left" ] && [ $i -lt 20 ]; do
  kill -KILL $left 2>/dev/null
  i=$((i+1))
  sleep 0.1
  left=$(tree)
done
[ -z "$left" ]
"""
