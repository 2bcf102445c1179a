"""From a choice to a running server: which models are there, what the host offers now, and the start itself."""

import os
import secrets
import shlex
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sqlalchemy import select

from console.errors import Conflict, HostError, InvalidInput
from console.hosts import inventory, observe
from console.hosts.process import Detached, Life
from console.plans import local_cpu
from console.records import reading, writing
from console.serving import ascend, claims, instances, npu_defaults, traps
from console.serving.backends import backend
from console.serving.instances import Instance
from console.serving.shelf import model_on, models_below
from console.serving.spec import Machine, Refusal, ServeSpec, defaults, refusals
from console.serving.state import State, Wish
from console.serving.weights import ModelFolder
from console.settings import settings
from console.text import say
from db import models

PILOT_MODEL = "smollm2"


def models_on(host: inventory.Host) -> list[ModelFolder]:
    """Every model folder known on this host: those below its work folder and those a person named."""
    with reading() as session:
        query = select(models.ModelFolder).where(models.ModelFolder.host_id == host.id).order_by(models.ModelFolder.id)
        named = [row.folder for row in session.scalars(query)]
    return models_below(host, named)


def add_model(host: inventory.Host, folder: str, *, actor: str) -> ModelFolder:
    """Remember a folder with a Hugging Face model. InvalidInput says what it lacks."""
    folder = folder.strip()
    if not folder.startswith("/"):
        raise InvalidInput(say("Give the whole path of the folder, beginning with a slash: {folder}", folder=folder))
    found = model_on(host, folder)
    errors = [problem for problem in found.problems if problem.is_error]
    if errors:
        raise InvalidInput(errors[0].text)
    with writing() as session:
        same = select(models.ModelFolder).where(
            models.ModelFolder.host_id == host.id, models.ModelFolder.folder == folder
        )
        if session.scalar(same) is None:
            session.add(models.ModelFolder(host_id=host.id, folder=folder, actor=actor, added=time.time()))
    return found


def forget_model(host: inventory.Host, folder: str) -> None:
    """Take a named folder off the list; nothing on disk is touched."""
    with writing() as session:
        query = select(models.ModelFolder).where(
            models.ModelFolder.host_id == host.id, models.ModelFolder.folder == folder
        )
        for row in session.scalars(query):
            session.delete(row)


def machine(host: inventory.Host) -> Machine:
    """What is free on the host for another server: asked for now, less the ports that servers of ours are to have."""
    return replace(observe.machine(host), ports_promised=claims.ports(host.id))


def reasons_against(
    host: inventory.Host, spec: ServeSpec, own: Instance | None = None, now: Machine | None = None
) -> list[Refusal]:
    """Every reason why this spec cannot work on this host now; the port of `own` while it runs is not one.

    Servers that wait for their start are none either: who begins first has the port and the cards.
    `now` is what is free there, when it was asked just before.
    """
    model = model_on(host, spec.model_folder)
    bad = traps.refusals(spec, model)
    if bad:
        return bad
    now = now or observe.machine(host)
    if own is not None and own.state not in instances.RESTING:
        ports = {port: holder for port, holder in now.ports_in_use.items() if port != own.spec.port}
        now = replace(now, ports_in_use=ports)
    found = refusals(spec, model, now, backend(spec.backend))
    return found if found or spec.backend not in ascend.BACKENDS else npu_defaults.reasons_against(host, spec, own)


def pilot_instance(host: inventory.Host, backend_name: str = "local_cpu") -> int:
    """The instance the pilot path starts: the one of its model that exists, else a new one with good defaults."""
    if backend_name in ascend.BACKENDS:
        return _on_npus(host, backend_name)
    folder = local_cpu.model_folder(local_cpu.LocalCpuTarget(host.work_folder), PILOT_MODEL)
    mine = [one for one in instances.instances() if one.host_id == host.id and one.spec.model_folder == folder]
    for one in sorted(mine, key=lambda one: one.state != State.ready):
        return one.id
    model = model_on(host, folder)
    spec = defaults(model, machine(host), folder)
    return instances.create(host.id, spec, noise=model.noise, actor="console")


def _on_npus(host: inventory.Host, name: str) -> int:
    """One that this backend runs already or can run again, else one with the largest model that fits on free cards."""
    release = npu_defaults.release_on(host, name)
    mine = [one for one in instances.instances() if (one.host_id, one.backend) == (host.id, name)]
    for one in sorted(mine, key=lambda one: one.state != State.ready):
        if one.spec.release == release and (instances.holds(one) or not reasons_against(host, one.spec, one)):
            return one.id
    spec, model = npu_defaults.first_that_fits(host, name, models_on(host), machine(host))
    return instances.create(host.id, spec, noise=model.noise, actor="console")


def launch(instance_id: int, *, actor: str, say_line: Callable[[str], None]) -> None:
    """Start the instance, or adopt the attempt that runs. InvalidInput with the first reason why it cannot work."""
    one = instances.instance(instance_id)
    host = inventory.host(one.host_id)
    runner = inventory.runner(host)
    if one.wish == Wish.up and one.attempt:
        life = Detached(runner, instances.folder(host, one.id, one.attempt)).look().life
        if life == Life.RUNNING:
            say_line("it runs already")
            return
        if life == Life.ABSENT:  # written down, but the worker was killed before it started
            with suppress(Conflict):  # a start whose connection was lost arrived after all
                _start(one, host, instances.attempts(one.id)[0].command)
            return
    against = reasons_against(host, one.spec)
    if against:
        raise InvalidInput(against[0].reason)
    attempt = instances.begin_attempt(instance_id, actor=actor)
    say_line(attempt.command)
    _start(instances.instance(instance_id), host, attempt.command)


def _start(one: Instance, host: inventory.Host, command: str) -> None:
    """The very command that is shown, as a process of its own; a key comes from a file only the owner can read."""
    before = ""
    if api_key(one):
        before = f". {shlex.quote(_key_on(host, one))}\n"
    folder = instances.folder(host, one.id, one.attempt)
    Detached(inventory.runner(host), folder).start(f"{before}{command}\n")


def api_key(one: Instance) -> str | None:
    """The key clients of this instance must send; None when it asks for none. Made on first use."""
    if not one.spec.api_key:
        return None
    path = _key_file(one)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"VLLM_API_KEY={secrets.token_urlsafe(24)}\nexport VLLM_API_KEY\n")
    return path.read_text().split("=", 1)[1].split("\n", 1)[0]


def _key_file(one: Instance) -> Path:
    return settings().data / "keys" / f"{one.id}.env"


def _key_on(host: inventory.Host, one: Instance) -> str:
    """The key's file on the host, which only its owner can read; the key itself travels on standard input."""
    if host.reach is None:
        return str(_key_file(one))
    there = f"{host.work_folder}/keys/{one.id}.env"
    words = shlex.quote(there)
    script = f'umask 077; mkdir -p "$(dirname {words})" && cat > {words}.part && mv {words}.part {words}'
    outcome = inventory.runner(host).run(script, stdin=_key_file(one).read_bytes())
    if outcome.code != 0:
        raise HostError(
            say("The API key could not be put on {host}: {error}", host=host.title, error=outcome.err.strip())
        )
    return there
