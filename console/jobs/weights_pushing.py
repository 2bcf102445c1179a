"""Sending a model folder of the console's machine to hosts as jobs: resumed, verified there, no file sent twice."""

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from console.errors import InvalidInput
from console.hosts import inventory, transfer
from console.hosts.sending import send_all
from console.hosts.transfer import Parcel, There
from console.jobs.bundling import MB, USUAL, Heard, pace_of, share
from console.jobs.jobs import enqueue
from console.jobs.logs import Log
from console.jobs.ride import ride
from console.plans import weights
from console.plans.step import Step
from console.serving.beside import UNFINISHED
from console.serving.weights import inspect_model
from console.settings import settings
from console.text import say

if TYPE_CHECKING:
    from console.jobs.carry import Carry

KIND = "push-model"
LONGEST_S = 72 * 3600


def start(
    folder: Path, hosts: Sequence[int], *, limit_mb: float | None = None, into: str = "", actor: str
) -> list[int]:
    """Queue one job for each host; a host that has one for this model already keeps that.

    `limit_mb`: megabytes per second, shared equally between the hosts. `into`: where models lie on the hosts, instead
    of the work folder. InvalidInput when the folder holds no model that can be served.
    """
    model = inspect_model(str(folder))
    errors = [one for one in model.problems if one.is_error]
    if errors:
        raise InvalidInput(errors[0].text)
    rate = share(hosts, limit_mb)
    found = []
    for host in map(inventory.host, hosts):
        target = f"{into.strip().rstrip('/') or f'{host.work_folder}/models'}/{model.name}"
        weights.check_folder(target)
        step = Step(
            "push",
            say("Send what is missing, and verify it there"),
            action="push_model",
            arguments={"source": str(folder), "folder": target, "limit": rate},
            expected_s=10 + model.weight_bytes / (rate or USUAL),
            timeout_s=LONGEST_S,
            rollback=say("Remove the folder {folder}.", folder=target),
        )
        title = say("Send {model} to {host}", model=model.name, host=host.title)
        steps = [step, weights.look(target)]
        found.append(enqueue(KIND, f"weights:{host.id}:{target}", host.id, title, steps, actor=actor))
    return found


def push_model(carry: "Carry", step: Step, log: Log) -> None:
    """The action of such a job."""
    source, folder = Path(str(step.arguments["source"])), str(step.arguments["folder"])
    host = inventory.host(carry.host_id)
    if host.reach is None and Path(folder).resolve() == source.resolve():
        log.line("the model is there: source and target are the same folder")
        return
    pace = pace_of(step)
    parcels = _parcels(carry, source, log)
    size, heard = sum(one.size for one in parcels), Heard(carry, log)

    def told(name: str, done: int) -> None:
        heard(name, done, size)

    def act() -> tuple[int, int]:
        runner = inventory.runner(host)
        looked = transfer.look(runner, folder, parcels)
        carry.reached = True
        transfer.require_room(looked, parcels, str(host.title))
        sent = send_all(runner, folder, parcels, looked, pace=pace, told=told, noted=heard.note)
        return sum(one.there != There.WHOLE for one in looked.seen.values()), sent

    files, sent = ride(carry, act, step.timeout_s)
    log.line(f"{files} files sent ({sent / MB:.0f} MB), {len(parcels) - files} were there already")


def _parcels(carry: "Carry", source: Path, log: Log) -> list[Parcel]:
    """Every file with its content's hash, config.json last: without it a folder is no model yet."""
    hashes = Hashes()
    files = [one for one in sorted(source.rglob("*")) if one.is_file() and _is_part(one.relative_to(source))]
    found = []
    for one in sorted(files, key=lambda file: file.relative_to(source) == Path("config.json")):
        carry.wanted()
        stat = one.stat()
        if stat.st_size > 100 * MB and not hashes.known(one):
            log.line(f"hashing {one.name}: {stat.st_size / 1e9:.2f} GB")
        found.append(Parcel(one, one.relative_to(source).as_posix(), stat.st_size, hashes.sha256(one)))
    return found


def _is_part(path: Path) -> bool:
    """Whether a file belongs to the model: nothing hidden, nothing unfinished."""
    return not any(name.startswith(".") for name in path.parts) and not path.name.endswith(UNFINISHED)


class Hashes:
    """What was hashed before on this machine, as long as size and time of the file are the same.

    Several jobs of the worker may read and add to it at once.
    """

    writing = threading.Lock()

    def __init__(self) -> None:
        self.file = settings().data / "hashes.json"
        self.kept = self._read()

    def _read(self) -> dict[str, str]:
        try:
            return dict(json.loads(self.file.read_text("utf-8")))
        except (OSError, ValueError):
            return {}

    def known(self, path: Path) -> str:
        return self.kept.get(_key(path), "")

    def sha256(self, path: Path) -> str:
        if found := self.known(path):
            return found
        digest = transfer.sha256_of(path)
        with self.writing:
            self.kept = self._read() | {_key(path): digest}
            part = self.file.with_suffix(".part")
            part.write_text(json.dumps(self.kept), "utf-8")
            part.replace(self.file)
        return digest


def _key(path: Path) -> str:
    stat = path.stat()
    return f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"
