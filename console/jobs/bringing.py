"""Seeing that a host has a model to serve; where there is none, the console may send its own small one."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from console.errors import InvalidInput
from console.hosts import inventory, transfer
from console.hosts.inventory import Host
from console.jobs.asking import ask
from console.jobs.logs import Log
from console.plans import local_cpu
from console.plans.step import Step
from console.serving import launch, npu_defaults
from console.serving.weights import inspect_model
from console.text import say

if TYPE_CHECKING:
    from console.jobs.carry import Carry


def see_model(carry: "Carry", step: Step, log: Log) -> None:
    """Fails, naming the folder, when there is none and none was brought."""
    host = inventory.host(carry.host_id)
    if _there(host, log):
        return
    small = own_small_model()
    if small is not None and _begun(host, small):
        log.line(f"{small.name}: going on with what was begun")  # by a worker that was killed; yes was said then
        send(host, small, carry, log)
    elif small is not None:
        size = sum(one.stat().st_size for one in small.rglob("*") if one.is_file())
        question = say(
            "There is no model on {host}. Shall the console send its small one, {name} ({size} MB), to {folder}? If it "
            "should serve another, put that there and say no.",
            host=host.title,
            name=small.name,
            size=round(size / 1e6),
            folder=_place(host),
        )
        if ask(carry, question) == "yes":
            send(host, small, carry, log)
    else:
        question = say(
            "There is no model on {host}. Put the folder of one (config.json, weights, tokenizer) below {folder}, or "
            "name its folder on the Models page. Is it there now?",
            host=host.title,
            folder=_place(host),
        )
        ask(carry, question)
    if not _there(host, log):
        raise InvalidInput(npu_defaults.no_model(host))


def own_small_model() -> Path | None:
    """Folder of the small model that was prepared for this machine's CPU; None while it is not there whole."""
    target = local_cpu.LocalCpuTarget(inventory.this_machine().work_folder)
    folder = local_cpu.model_folder(target, launch.PILOT_MODEL)
    return Path(folder) if inspect_model(folder).usable else None


def send(host: Host, folder: Path, carry: "Carry", log: Log) -> None:
    """Bring every file; what is there already stays. HostError where there is no room."""
    runner, there, parcels = inventory.runner(host), _folder(host, folder), _parcels(folder)
    transfer.require_room(transfer.look(runner, there, parcels), parcels, there)
    for one in parcels:
        log.line(f"{one.name}: {one.size} bytes")
        transfer.send(runner, there, one, told=lambda _: carry.wanted())


def _begun(host: Host, small: Path) -> bool:
    """Whether some of it lies there, whole or in part: parts are named after what will be in them."""
    runner, there = inventory.runner(host), _folder(host, small)
    if runner.run(f"[ -d {shlex.quote(there)} ]").code != 0:
        return False  # a closer look would make the folder
    seen = transfer.look(runner, there, _parcels(small)).seen.values()
    return any(one.there in (transfer.There.PART, transfer.There.WHOLE) for one in seen)


def _parcels(small: Path) -> list[transfer.Parcel]:
    """Every file, config.json last: without it the folder is no model yet."""
    files = sorted((one for one in small.rglob("*") if one.is_file()), key=lambda one: one.name == "config.json")
    return [transfer.parcel(file, str(file.relative_to(small))) for file in files]


def _folder(host: Host, small: Path) -> str:
    return f"{_place(host)}/{small.name}"


def _place(host: Host) -> str:
    return f"{host.work_folder}/models"


def _there(host: Host, log: Log) -> bool:
    found = launch.models_on(host)
    for one in found:
        why = next((str(problem.text) for problem in one.problems if problem.is_error), "")
        log.line(f"{one.folder}: {why or 'can be served'}")
    return any(one.usable for one in found)
