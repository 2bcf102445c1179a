"""Taking a bundle to hosts: several at once, each file verified there, going on after every cut."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from console.bundles import manifest
from console.bundles.manifest import WEIGHTS, Manifest
from console.errors import ConsoleError, InvalidInput, Unreachable
from console.hosts import inventory, transfer
from console.hosts.inventory import Host
from console.hosts.pace import Pace
from console.hosts.runner import Runner
from console.hosts.sending import send_all
from console.hosts.transfer import Parcel, There
from console.text import Text, say

AT_ONCE = 8
"""Hosts that get files at the same time."""
TRIES = 6
"""Times in a row that a connection may break without a new byte on the host before it is given up."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 8.0, 8.0)


@dataclass(frozen=True)
class Delivered:
    """What a delivery did. `sent`: bytes that went over, again or not; `files` were sent, `there` were there before."""

    sent: int
    files: int
    there: int


@dataclass(frozen=True)
class Ended:
    """How it ended for one host; either `delivered` or `error` is None. `unreached`: the host is away now."""

    host: str
    delivered: Delivered | None
    error: Text | None = None
    unreached: bool = False


@dataclass(frozen=True)
class Progress:
    """How far one host is: bytes of the whole bundle that are there, and the file on its way."""

    host: str
    done: int
    size: int
    file: str


Told = Callable[[Progress], None]


def folders(whole: Manifest, folder: Path, work_folder: str) -> Iterator[tuple[str, list[Parcel]]]:
    """Where on a host the files go: packages below `packages`, where an installation looks, weights with the models."""
    parcels = whole.parcels(folder)
    weights = [one for one in parcels if one.name.startswith(f"{WEIGHTS}/")]
    yield f"{work_folder}/packages", [one for one in parcels if one not in weights]
    if weights:
        cut = [Parcel(one.source, one.name.removeprefix(f"{WEIGHTS}/"), one.size, one.sha256) for one in weights]
        yield f"{work_folder}/models", cut


def deliver(
    runner: Runner,
    host: Host,
    folder: Path,
    *,
    pace: Pace | None = None,
    told: Told = lambda progress: None,
    noted: Callable[[Text], object] = lambda text: None,
) -> Delivered:
    """Bring a bundle to one host; what is there already stays. Unreachable when the connection breaks: doing it again
    goes on there. HostError when the host has no room or refuses; what `told` raises is passed on."""
    whole = manifest.required(folder)
    places = list(folders(whole, folder, host.work_folder))
    looks = [(where, parcels, transfer.look(runner, where, parcels)) for where, parcels in places]
    for _, parcels, seen in looks:
        transfer.require_room(seen, parcels, str(host.title))
    sent = done = there = files = 0
    for where, parcels, seen in looks:

        def heard(name: str, count: int, before: int = done) -> None:
            told(Progress(host.name, before + count, whole.size, name))

        sent += send_all(runner, where, parcels, seen, pace=pace, told=heard, noted=noted)
        done += sum(one.size for one in parcels)
        there += sum(one.there == There.WHOLE for one in seen.seen.values())
        files += len(parcels)
    _send_manifest(runner, places[0][0], folder)
    return Delivered(sent, files - there, there)


def push(
    folder: Path,
    hosts: Sequence[Host],
    *,
    limit: float | None = None,
    told: Told = lambda progress: None,
    rest: Callable[[float], object] = time.sleep,
) -> list[Ended]:
    """Bring a bundle to several hosts at the same time; `limit` in bytes per second is for all of them together.

    A broken connection is mended and the file continued, as long as anything new arrives.
    """
    if not hosts:
        raise InvalidInput(say("Name at least one host."))
    manifest.required(folder)
    pace = Pace(limit)
    with ThreadPoolExecutor(min(AT_ONCE, len(hosts)), thread_name_prefix="push") as pool:
        return list(pool.map(lambda host: _patiently(folder, host, pace, told, rest), hosts))


def _patiently(folder: Path, host: Host, pace: Pace, told: Told, rest: Callable[[float], object]) -> Ended:
    furthest, before, failed = 0, 0, 0
    lock = threading.Lock()

    def heard(progress: Progress) -> None:
        nonlocal furthest
        with lock:
            furthest = max(furthest, progress.done)
        told(progress)

    while True:
        try:
            return Ended(host.name, deliver(inventory.runner(host), host, folder, pace=pace, told=heard))
        except Unreachable as error:
            failed, before = (0 if furthest > before else failed + 1), furthest
            if failed >= TRIES or not furthest:  # a host that was never there is told at once
                return Ended(host.name, None, error.text, unreached=True)
            rest(PAUSES[min(failed, len(PAUSES) - 1)])
        except ConsoleError as error:
            return Ended(host.name, None, error.text)


def _send_manifest(runner: Runner, where: str, folder: Path) -> None:
    """Last, so that a manifest on a host means that all it lists has arrived."""
    runner.put(folder / manifest.NAME, f"{where}/{manifest.NAME}")
