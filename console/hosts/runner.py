"""The seam: the one way to act on a host, whether it is this machine or far away."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from console.errors import HostError
from console.hosts.piece import Piece
from console.text import Text, say


@dataclass(frozen=True)
class Outcome:
    """What one command left: exit code, standard output and error (bytes decoded as UTF-8, bad bytes replaced)."""

    code: int
    out: str
    err: str
    seconds: float


class Feeder(Protocol):
    """Sends files to one host from a process of its own. Every method may raise HostError."""

    def ready(self) -> None:
        """Wait until it is logged in on the host. To be called once, before anything else."""
        ...

    def feed(self, script: str, piece: Piece, *, timeout_s: float) -> Outcome:
        """As `Runner.feed` does, but as fast as may be, whatever the pace of `piece`; once it raised, no more."""
        ...


class Runner(Protocol):
    """Acts on one host. Every method may raise HostError with what to do about it."""

    def run(self, script: str, *, timeout_s: float = 30, stdin: bytes = b"") -> Outcome:
        """Run `script` with `sh`; a non-zero exit code is an outcome, no error. CommandTimeout after `timeout_s`."""
        ...

    def put(self, source: Path, target: str, *, timeout_s: float = 600) -> None:
        """Copy a file of the console's machine to the absolute path `target` of the host, whole or not at all.

        Mode 0600, missing parents are made. InvalidInput when `source` cannot be read.
        """
        ...

    def feed(self, script: str, piece: Piece, *, timeout_s: float) -> Outcome:
        """Like `run`, with a file as standard input, for a script that says little before it has read it all.

        It is read in this thread; what `piece` raises ends the command and is passed on.
        """
        ...

    def apart(self) -> AbstractContextManager[Feeder | None]:
        """Another process that feeds this host over a connection of its own; None where that would gain nothing."""
        ...

    def address(self, port: int) -> str:
        """`host:port` under which this process reaches `port` of the host's loopback."""
        ...


def not_copied(source: Path, target: str, where: Text, error: str) -> HostError:
    """The error of `put` when the host does not take the file."""
    return HostError(
        say(
            "{source} could not be copied to {target} on {where}: {error}. Is there room, may the user write there?",
            source=str(source),
            target=target,
            where=where,
            error=error,
        )
    )
