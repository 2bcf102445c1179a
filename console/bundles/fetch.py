"""Fetching a file over HTTP: resumed where it stopped, checked, and only then given its name."""

import errno
import hashlib
import json
import re
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from console.errors import ConsoleError, DataError, InvalidInput, NotFound, Unreachable
from console.hosts.transfer import sha256_of
from console.text import say

MARGIN = 64 * 1_048_576
"""Room that must be left on the disk afterwards."""
TRIES = 5
"""Times in a row that nothing new may arrive before it is given up."""
SILENCE_S = 30.0
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
Told = Callable[[str, int, int | None], None]
"""Hears the name of a file, how many bytes of it are there, and how many there will be (None: not known)."""


@dataclass(frozen=True)
class Address:
    """Where a file is had. `sha256` "" and `size` None: not known beforehand; `headers` are sent along."""

    url: str
    sha256: str = ""
    size: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Cut(Exception):
    """The connection ended early; what came is kept."""


def client() -> httpx.Client:
    """Proxies and certificates from the environment, as curl takes them."""
    return httpx.Client(follow_redirects=True, timeout=httpx.Timeout(SILENCE_S, pool=None), trust_env=True)


def fetch(
    http: httpx.Client,
    address: Address,
    target: Path,
    *,
    told: Told = lambda name, done, size: None,
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """The file at `target`. NotFound: it is not at that address; Unreachable: given up, what came is kept as .part;
    DataError: no room here; InvalidInput: it has another SHA-256 than it must have."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    _keep_only_ours(part, address)
    failed = 0
    while True:
        before = _length(part)
        try:
            _go_on(http, address, part, target.name, told)
            break
        except (Cut, httpx.TransportError) as error:
            failed = 0 if _length(part) > before else failed + 1
            if failed >= TRIES:
                raise Unreachable(
                    say(
                        "{name} could not be fetched from {url}: {error}. What came is kept; build again to go on.",
                        name=target.name,
                        url=address.url,
                        error=str(error) or type(error).__name__,
                    )
                ) from error
            pause(min(2.0**failed, 10.0) if failed else 0.2)
        except OSError as error:
            raise _no_place(target, error) from error
    _accept(part, target, address)


def _go_on(http: httpx.Client, address: Address, part: Path, name: str, told: Told) -> None:
    """Everything that is still to come. Raises Cut when it ends early."""
    have = _length(part)
    if address.size is not None and have == address.size:
        return
    headers = {"Accept-Encoding": "identity", **address.headers}
    if have:
        headers["Range"] = f"bytes={have}-"
        if validator := _note(part).get("validator"):
            headers["If-Range"] = validator
    with http.stream("GET", address.url, headers=headers) as answer:
        if answer.status_code == 416:  # there is no more, or it is another file by now
            if _total(answer) == have:
                return
            part.unlink()
            raise Cut(f"HTTP {answer.status_code}")
        _refuse(answer, address, name)
        begin = _begin(answer, have)
        size = _whole_size(answer, begin)
        require_room(part.parent, (size or 0) - begin)
        _write_note(part, address, answer)
        with part.open("r+b" if begin else "wb") as file:
            file.seek(begin)
            for block in answer.iter_raw():  # with a size it would hold back, and lose, what a cut follows
                file.write(block)
                begin += len(block)
                told(name, begin, size)
    if size is not None and begin < size:
        raise Cut(f"{begin} / {size}")


def require_room(folder: Path, needed: int) -> None:
    """DataError when the disk of `folder` has no room for `needed` more bytes."""
    free = shutil.disk_usage(folder).free
    if needed > 0 and needed + MARGIN > free:
        raise DataError(
            say(
                "The disk of {folder} has no room: {needed} MiB are needed, {room} MiB are free.",
                folder=str(folder),
                needed=-(-(needed + MARGIN) // 1_048_576),
                room=free // 1_048_576,
            )
        )


def _refuse(answer: httpx.Response, address: Address, name: str) -> None:
    if answer.status_code in (200, 206):
        return
    if answer.status_code in (408, 425, 429) or answer.status_code >= 500:
        raise Cut(f"HTTP {answer.status_code}")
    raise NotFound(
        say(
            "{name} is not to be had at {url} (HTTP {code}). Addresses are data: change them in a file of your own "
            "catalog, or put the file into the bundle by hand.",
            name=name,
            url=address.url,
            code=answer.status_code,
        )
    )


def _begin(answer: httpx.Response, have: int) -> int:
    """Where the bytes of this answer belong: a server that knows no ranges, or has another file now, sends all."""
    if answer.status_code == 200:
        return 0
    found = _RANGE.match(answer.headers.get("content-range", ""))
    if found is None or int(found[1]) > have:
        raise Cut("Content-Range")
    return int(found[1])


def _total(answer: httpx.Response) -> int | None:
    found = re.search(r"/(\d+)$", answer.headers.get("content-range", ""))
    return int(found[1]) if found else None


def _whole_size(answer: httpx.Response, begin: int) -> int | None:
    length = answer.headers.get("content-length", "")
    return begin + int(length) if length.isdecimal() else None


def _accept(part: Path, target: Path, address: Address) -> None:
    if address.sha256 and sha256_of(part) != address.sha256:
        part.unlink()
        _forget(part)
        raise InvalidInput(
            say(
                "{name} from {url} has another SHA-256 than it must have, and was thrown away. A mirror may be out of "
                "step: try again, or another one.",
                name=target.name,
                url=address.url,
            )
        )
    part.replace(target)
    _forget(part)


def _keep_only_ours(part: Path, address: Address) -> None:
    """A beginning of unknown origin is only continued when a SHA-256 will tell whether it was right."""
    if part.exists() and not address.sha256 and _note(part).get("origin") != _origin(address):
        part.unlink()


def _note_file(part: Path) -> Path:
    return part.with_name(f".{part.name}.from")


def _note(part: Path) -> dict[str, str]:
    try:
        stored = json.loads(_note_file(part).read_text("utf-8"))
        return {str(key): str(value) for key, value in stored.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _write_note(part: Path, address: Address, answer: httpx.Response) -> None:
    """Which file a part is of; a weak validator says nothing about bytes."""
    tag = answer.headers.get("etag", "")
    validator = tag if tag and not tag.startswith("W/") else answer.headers.get("last-modified", "")
    _note_file(part).write_text(json.dumps({"origin": _origin(address), "validator": validator}), "utf-8")


def _origin(address: Address) -> str:
    return hashlib.sha256(address.url.encode()).hexdigest()


def _forget(part: Path) -> None:
    with suppress(FileNotFoundError):
        _note_file(part).unlink()


def _length(part: Path) -> int:
    try:
        return part.stat().st_size
    except FileNotFoundError:
        return 0


def _no_place(target: Path, error: OSError) -> ConsoleError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return DataError(
        say(
            "The disk of {folder} is full. Free some room and build again; what came is kept.",
            folder=str(target.parent),
        )
        if full
        else say("{path} cannot be written: {error}", path=str(target), error=error.strerror or str(error))
    )
