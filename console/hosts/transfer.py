"""Bringing large files onto a host: resumed at any byte, verified there, never half under their final name.

What is on its way is called after the file and its content (`NAME.<first of its SHA-256>.part`), so a part of another
content is never continued. Writing goes by offset: a late writer of a session that broke writes the same bytes again.
"""

import hashlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from console.errors import HostError, InvalidInput, unreadable
from console.hosts.pace import BLOCK, Pace
from console.hosts.piece import Piece, nobody
from console.hosts.runner import Feeder, Runner
from console.hosts.transfer_scripts import CONFIRM, LOOK, PREFIX, WRITE
from console.text import say, verbatim

MARGIN = 64 * BLOCK
"""Room that must be left on the host's disk after everything has arrived."""
SLOWEST = 100_000
"""Bytes per second below which a transfer without a limit of its own is given up."""
HASHING = 50_000_000
"""Bytes per second that even a slow host hashes."""
SHORT, WRONG = 21, 23
"""Exit codes of CONFIRM: less arrived than the file is long; the whole has another content."""


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
    told: Callable[[int], None] = nobody,
) -> Sent:
    """Bring one file; what the host has of it already stays. `told` hears how many bytes of the file are there.

    Harmless to do again, which goes on where it stopped. HostError: refused, no room, or another content arrived.
    What `told` raises ends the transfer and is passed on.
    """
    seen = seen or look(runner, folder, [one]).seen[one.name]
    return bring(runner, folder, one, seen, Piece(one.source, 0, pace or Pace(), told), CONFIRM)


def bring(via: Feeder, folder: str, one: Parcel, seen: Seen, piece: Piece, after: str) -> Sent:
    """Let the host write what it has not; `after` is what it does then, in the same session.

    `piece` says how fast the file goes, and who hears of it. Errors as with `send`.
    """
    if seen.there == There.WHOLE:
        piece.went(one.size)
        return Sent(0, 0)
    begin = _good_prefix(via, folder, one, seen.bytes) if seen.there == There.PART else 0
    piece.went(begin)
    rate = min(SLOWEST, piece.pace.limit or SLOWEST) / 2
    limit = 600 + (one.size - begin) / rate + one.size / HASHING
    script = f"{_words(folder, one)}begin={begin}\n{WRITE}{after}"
    outcome = via.feed(script, piece, timeout_s=limit)
    if outcome.code != 0:
        raise _refused(one, folder, outcome.code, outcome.err)
    return Sent(piece.at - begin, begin)


def confirm(runner: Runner, folder: str, one: Parcel) -> None:
    """Let the host hash what was written, and give it its final name. Errors as with `send`."""
    outcome = runner.run(_words(folder, one) + CONFIRM, timeout_s=120 + one.size / HASHING)
    if outcome.code != 0:
        raise _refused(one, folder, outcome.code, outcome.err)


def _words(folder: str, one: Parcel) -> str:
    said = {"folder": folder, "name": one.name, "part": one.part, "size": str(one.size), "sum": one.sha256}
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in said.items())


def _good_prefix(via: Feeder, folder: str, one: Parcel, length: int) -> int:
    """`length` when that much of both sides is the same, else 0: a length alone proves nothing."""
    if length <= 0 or length > one.size:
        return 0
    words = f"folder={shlex.quote(folder)}\npart={shlex.quote(one.part)}\nlength={length}\n{PREFIX}"
    outcome = via.run(words, timeout_s=120 + length / HASHING)
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
