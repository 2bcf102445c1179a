"""Bringing large files onto a host: resumed at any byte, verified there, never half under their final name.

What is on its way is called after the file and its content (`NAME.<first of its SHA-256>.part`), so a part of another
content is never continued. Writing goes by offset: a late writer of a session that broke writes the same bytes again.
"""

import hashlib
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from io import FileIO
from pathlib import Path

from console.errors import HostError, InvalidInput, unreadable
from console.hosts.runner import Runner
from console.hosts.transfer_scripts import LOOK, PREFIX, RECEIVE
from console.text import say, verbatim

BLOCK = 1_048_576
MARGIN = 64 * BLOCK
"""Room that must be left on the host's disk after everything has arrived."""
SLOWEST = 100_000
"""Bytes per second below which a transfer without a limit of its own is given up."""
HASHING = 50_000_000
"""Bytes per second that even a slow host hashes."""
SHORT, WRONG = 21, 23
"""Exit codes of RECEIVE: less arrived than the file is long; the whole has another content."""


@dataclass(frozen=True)
class Parcel:
    """One file to bring. `name` is its path below the target folder, `size` bytes, `sha256` as hexadecimal digits."""

    source: Path
    name: str
    size: int
    sha256: str

    @property
    def part(self) -> str:
        return f"{self.name}.{self.sha256[:12]}.part"


class There(StrEnum):
    """What a host has of a file: the whole with the right content, a beginning, a file of other content, nothing."""

    WHOLE = "whole"
    PART = "part"
    OTHER = "other"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Seen:
    """`bytes`: how long the part is."""

    there: There
    bytes: int = 0


@dataclass(frozen=True)
class Look:
    """What a host has of each parcel, by name, and how many bytes are free where they go."""

    seen: dict[str, Seen]
    room: int


@dataclass(frozen=True)
class Sent:
    """How many bytes went over, from which offset on; both 0 for a file that was there already."""

    bytes: int
    begun_at: int


class Pace:
    """Holds everybody who shares it to `limit` bytes per second together; None is no limit."""

    def __init__(
        self,
        limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        if limit is not None and limit <= 0:
            raise InvalidInput(say("The limit must be more than 0 MB per second."))
        self.limit, self.clock, self.sleep = limit, clock, sleep
        self.free_at, self.lock = clock(), threading.Lock()

    @property
    def block(self) -> int:
        """Bytes to send at a time: a tenth of a second's, so that a slow line is used evenly."""
        return BLOCK if self.limit is None else max(4096, min(BLOCK, int(self.limit / 10)))

    def take(self, count: int) -> None:
        """Wait until `count` bytes may go."""
        if self.limit is None:
            return
        with self.lock:
            now = self.clock()
            begin = max(now, self.free_at)
            self.free_at = begin + count / self.limit
        if begin > now:
            self.sleep(begin - now)


def parcel(source: Path, name: str = "") -> Parcel:
    """The parcel of a file whose content is not known yet; reads it all."""
    return Parcel(source, name or source.name, source.stat().st_size, sha256_of(source))


def sha256_of(path: Path, size: int | None = None) -> str:
    """SHA-256 of a file, or of its first `size` bytes. InvalidInput when it cannot be read."""
    digest, left = hashlib.sha256(), size
    try:
        with path.open("rb") as file:
            while left is None or left > 0:
                block = file.read(BLOCK if left is None else min(BLOCK, left))
                if not block:
                    break
                digest.update(block)
                left = None if left is None else left - len(block)
    except OSError as error:
        raise unreadable(path, error) from error
    return digest.hexdigest()


def look(runner: Runner, folder: str, parcels: Sequence[Parcel]) -> Look:
    """What `folder` of the host has of these files. Whole files are hashed once; the result is kept beside them."""
    for one in parcels:
        _check_name(one.name)
    asked = "".join(f"{one.name}\n{one.part}\n{one.size}\n{one.sha256}\n" for one in parcels)
    script = f"folder={shlex.quote(folder)}\n{LOOK}"
    limit = 120 + sum(one.size for one in parcels) / HASHING
    outcome = runner.run(script, timeout_s=limit, stdin=asked.encode())
    lines = outcome.out.splitlines()
    if outcome.code != 0 or len(lines) != len(parcels) + 1:
        raise HostError(
            say(
                "{folder} could not be looked into: {error}. May the user write there?",
                folder=folder,
                error=outcome.err.strip() or f"exit code {outcome.code}",
            )
        )
    found = [Seen(There(state), int(count)) for state, count in (line.split() for line in lines[1:])]
    return Look(dict(zip([one.name for one in parcels], found, strict=True)), int(lines[0]))


def require_room(seen: Look, parcels: Sequence[Parcel], where: str) -> int:
    """The bytes that still have to go over; HostError when the host's disk has no room for them."""
    # what is replaced stays until the new file is whole, so it frees nothing
    left = sum(one.size - seen.seen[one.name].bytes for one in parcels if seen.seen[one.name].there != There.WHOLE)
    if left and left + MARGIN > seen.room:
        raise HostError(
            say(
                "{where} has no room: {needed} MiB are needed, {room} MiB are free. Free some, or choose another "
                "work folder for this host.",
                where=where,
                needed=-(-(left + MARGIN) // 1_048_576),
                room=seen.room // 1_048_576,
            )
        )
    return left


def send(
    runner: Runner,
    folder: str,
    one: Parcel,
    seen: Seen | None = None,
    *,
    pace: Pace | None = None,
    told: Callable[[int], None] = lambda count: None,
) -> Sent:
    """Bring one file; what the host has of it already stays. `told` hears how many bytes of the file are there.

    Harmless to do again, which goes on where it stopped. HostError: refused, no room, or another content arrived.
    What `told` raises ends the transfer and is passed on.
    """
    pace = pace or Pace()
    seen = seen or look(runner, folder, [one]).seen[one.name]
    if seen.there == There.WHOLE:
        told(one.size)
        return Sent(0, 0)
    begin = _good_prefix(runner, folder, one, seen.bytes) if seen.there == There.PART else 0
    told(begin)
    count = _Count(begin)
    script = RECEIVE.format(
        folder=shlex.quote(folder),
        name=shlex.quote(one.name),
        part=shlex.quote(one.part),
        begin=begin,
        size=one.size,
        sha256=one.sha256,
    )
    rate = min(SLOWEST, pace.limit or SLOWEST) / 2
    limit = 600 + (one.size - begin) / rate + one.size / HASHING
    outcome = runner.feed(script, _blocks(one, begin, pace, count, told), timeout_s=limit)
    if outcome.code != 0:
        raise _refused(one, folder, outcome.code, outcome.err)
    return Sent(count.at - begin, begin)


@dataclass
class _Count:
    at: int


def _blocks(one: Parcel, begin: int, pace: Pace, count: _Count, told: Callable[[int], None]) -> Iterator[memoryview]:
    """One buffer, filled again and again: who takes a block has sent it before asking for the next."""
    buffer = memoryview(bytearray(pace.block))
    with _opened(one.source) as file:
        file.seek(begin)
        while got := file.readinto(buffer):
            pace.take(got)
            yield buffer[:got]
            count.at += got
            told(count.at)


def _opened(path: Path) -> FileIO:
    try:
        return path.open("rb", buffering=0)
    except OSError as error:
        raise unreadable(path, error) from error


def _good_prefix(runner: Runner, folder: str, one: Parcel, length: int) -> int:
    """`length` when that much of both sides is the same, else 0: a length alone proves nothing."""
    if length <= 0 or length > one.size:
        return 0
    words = f"folder={shlex.quote(folder)}\npart={shlex.quote(one.part)}\nlength={length}\n{PREFIX}"
    outcome = runner.run(words, timeout_s=120 + length / HASHING)
    return length if outcome.code == 0 and outcome.out.strip() == sha256_of(one.source, length) else 0


def _refused(one: Parcel, folder: str, code: int, error: str) -> HostError:
    name = verbatim(one.name)
    if code == WRONG:
        return HostError(
            say(
                "{name} arrived with another content than its SHA-256 says, and was thrown away. Verify the bundle: "
                "the file may have changed here.",
                name=name,
            )
        )
    if code == SHORT:
        return HostError(
            say(
                "{name} arrived incomplete in {folder}: {error}. Send it again; what is there is kept.",
                name=name,
                folder=folder,
                error=error.strip() or f"exit code {code}",
            )
        )
    return HostError(
        say(
            "{name} could not be written to {folder}: {error}. Is there room, may the user write there?",
            name=name,
            folder=folder,
            error=error.strip() or f"exit code {code}",
        )
    )


def _check_name(name: str) -> None:
    if name.startswith("/") or ".." in name.split("/") or any(ord(sign) < 32 for sign in name) or not name:
        raise InvalidInput(say("{name} is no name for a file of a bundle.", name=verbatim(repr(name))))
