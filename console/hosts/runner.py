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
    """Brings files to one host. Every method may raise HostError with what to do about it."""

    def run(self, script: str, *, timeout_s: float = 30) -> Outcome:
        """Run `script` with `sh`; a non-zero exit code is an outcome, no error. CommandTimeout after `timeout_s`."""
        ...

    def feed(self, script: str, piece: Piece, *, timeout_s: float) -> Outcome:
        """Like `run`, with a file as standard input, for a script that says little before it has read it all.

        What `piece` raises ends the command and is passed on.
        """
        ...


class Second(Feeder, Protocol):
    """A process of its own that does so, as fast as may be, whatever the pace of a piece; once it raised, no more."""

    def ready(self) -> None:
        """Wait until it is logged in on the host. To be called once, before anything else."""
        ...


class Runner(Feeder, Protocol):
    """Acts on one host. Every method may raise HostError with what to do about it."""

    def run(self, script: str, *, timeout_s: float = 30, stdin: bytes = b"") -> Outcome:
        """As a Feeder, with `stdin` as its standard input."""
        ...

    def put(self, source: Path, target: str, *, timeout_s: float = 600) -> None:
        """Copy a file of the console's machine to the absolute path `target` of the host, whole or not at all.

        Mode 0600, missing parents are made. InvalidInput when `source` cannot be read.
        """
        ...

    def apart(self) -> AbstractContextManager[Second | None]:
        """Another process, with a connection of its own to this host; None where there is no use for it."""
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
