"""The vLLM servers of the inventory: creating, wishing up or down, and how each is now."""

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from console.errors import Conflict, NotFound
from console.hosts import inventory
from console.hosts.reach import spot
from console.records import move, note, reading, writing
from console.serving import container
from console.serving.backends import backend
from console.serving.command import shell
from console.serving.numbering import Numbers, numbers
from console.serving.place import runtime_folder, site
from console.serving.spec import LOOPBACK, ServeSpec
from console.serving.state import State, Wish
from console.settings import settings
from console.text import Text, from_json, say, verbatim
from db import models

WATCHED_S = 15.0
"""Seconds after which an observation no longer proves anything: then nobody watches."""

FULL_BYTES = 1024 * 1024
"""With less room than this on the disk of the data folder nothing can be relied on to be written down."""
RESTING = (State.stopped, State.failed, State.lost)


@dataclass(frozen=True)
class Instance:
    """One vLLM server as it is known now. `health` is the evidence: question, answer, times (Unix seconds)."""

    id: int
    host_id: int
    name: str
    backend: str
    spec: ServeSpec
    noise: bool
    wish: Wish
    state: State
    reason: Text | None
    attempt: int
    health: Mapping[str, object]
    created: float
    observed: float | None

    @property
    def subject(self) -> str:
        return f"instance:{self.id}"

    @property
    def address(self) -> str:
        """`host:port` of its HTTP surface, as seen from the console."""
        return inventory.runner(inventory.host(self.host_id)).address(self.spec.port)

    @property
    def spot(self) -> Text:
        """Where it listens, as a reader says it: a port of this machine, or of a host, and at which address."""
        host = inventory.host(self.host_id)
        own = spot("127.0.0.1" if self.spec.host in LOOPBACK else self.spec.host, self.spec.port)
        return verbatim(own) if host.reach is None else say("{host} · {place}", host=host.label, place=own)


@dataclass(frozen=True)
class Attempt:
    """One start of an instance. Times are Unix seconds; `code` is the exit code once it ended with one."""

    number: int
    actor: str
    command: str
    folder: str
    started: float
    ready: float | None
    ended: float | None
    code: int | None


def instances() -> list[Instance]:
    """Every instance, newest first."""
    with reading() as session:
        return [_seen(row) for row in session.scalars(select(models.Instance).order_by(models.Instance.id.desc()))]


def instance(instance_id: int) -> Instance:
    with reading() as session:
        row = session.get(models.Instance, instance_id)
    if row is None:
        raise NotFound(say("There is no instance {instance}.", instance=instance_id))
    return _seen(row)


def named(name: str) -> Instance:
    """By name or number, as people type it. NotFound names those that exist."""
    known = instances()
    for one in known:
        if name in (one.name, str(one.id)):
            return one
    raise NotFound(
        say(
            "There is no instance {name}. Known: {known}.", name=name, known=", ".join(one.name for one in known) or "-"
        )
    )


def stored(instance_id: int) -> Instance | None:
    """As it was written down, without judging by its age; None when it does not exist (any more)."""
    with reading() as session:
        row = session.get(models.Instance, instance_id)
    if row is None:
        return None
    return _value(row, State(row.state), None if row.reason is None else from_json(row.reason))


def folder(host: inventory.Host, instance_id: int, attempt: int) -> str:
    """Where one attempt runs on its host."""
    return f"{host.work_folder}/instances/{instance_id}/{attempt}"


def attempts(instance_id: int) -> list[Attempt]:
    """Every start of this instance, the latest first."""
    query = select(models.Attempt).where(models.Attempt.instance_id == instance_id)
    with reading() as session:
        rows = session.scalars(query.order_by(models.Attempt.number.desc()))
        return [
            Attempt(row.number, row.actor, row.command, row.folder, row.started, row.ready, row.ended, row.code)
            for row in rows
        ]


def create(host_id: int, spec: ServeSpec, *, noise: bool, actor: str) -> int:
    """Enter a server into the inventory, not started. The same spec on the same host gives the instance there is."""
    stored = json.dumps(spec.to_json(), sort_keys=True)
    with writing() as session:
        same = select(models.Instance).where(models.Instance.host_id == host_id, models.Instance.spec == stored)
        row = session.scalar(same)
        if row is None:
            row = models.Instance(
                host_id=host_id,
                name=_free_name(session, spec.served_name),
                backend=spec.backend,
                spec=stored,
                noise=noise,
                wish=Wish.down,
                state=State.stopped,
                attempt=0,
                health="{}",
                created=time.time(),
            )
            session.add(row)
            session.flush()
            note(session, f"instance:{row.id}", "created", actor=actor)
        return row.id


def delete(instance_id: int, *, actor: str) -> None:
    """Forget a stopped instance; its history stays."""
    with writing() as session:
        row = session.get_one(models.Instance, instance_id)
        if _seen(row).state not in RESTING:
            raise Conflict(say("{name} is not stopped. Stop it first, then delete it.", name=row.name))
        note(session, f"instance:{row.id}", "deleted", was=row.state, actor=actor)
        session.delete(row)


def wish_down(instance_id: int, *, actor: str) -> None:
    """Ask for the end of a server; the worker ends its processes. No effect when it is stopped already."""
    with writing() as session:
        wish_down_in(session, instance_id, actor=actor)


def wish_down_in(session: Session, instance_id: int, *, actor: str) -> None:
    """Like `wish_down`, inside a transaction that is already open."""
    row = session.get_one(models.Instance, instance_id)
    if row.wish == Wish.up:
        row.wish = Wish.down
        session.flush()
        if row.state != State.stopped:
            move(session, row, f"instance:{row.id}", State.stopping, actor=actor)


def begin_attempt(instance_id: int, *, actor: str) -> Attempt:
    """The attempt to start now: a new one, wished up and written down before anything runs.

    InvalidInput when the host lacks what no such server starts without, Conflict when another one has its cards.
    """
    one = instance(instance_id)
    host = inventory.host(one.host_id)
    where, around, known = runtime_folder(host, one.backend), site(host, one.spec), numbers(one.host_id)
    with writing() as session:
        row = session.get_one(models.Instance, instance_id)
        _claim(session, row, known)
        number = row.attempt + 1
        spec = container.marked(one.spec, folder(host, row.id, number))
        command = backend(one.backend).command(spec, where, around)
        attempt = models.Attempt(
            instance_id=row.id,
            number=number,
            actor=actor,
            command=shell(command),
            started=time.time(),
            folder=folder(host, row.id, number),
        )
        session.add(attempt)
        row.wish, row.attempt, row.health, row.observed = Wish.up, number, "{}", time.time()
        session.flush()
        move(session, row, f"instance:{row.id}", State.starting, actor=actor)
    return attempts(instance_id)[0]


def holds(one: Instance) -> bool:
    """Whether it has its cards, or will have them in a moment: until it is known to have ended."""
    return one.state not in (State.stopped, State.failed) and "ended" not in one.health


def _claim(session: Session, own: models.Instance, known: Numbers) -> None:
    """Conflict when another server of the host has a chip or the port of this one; no two can ask at once."""
    mine = _value(own, State(own.state), None).spec
    wanted = known.chips(mine)
    others = select(models.Instance).where(models.Instance.host_id == own.host_id, models.Instance.id != own.id)
    for one in map(_seen, session.scalars(others)):
        if not holds(one):
            continue
        if both := wanted & known.chips(one.spec):
            number = next(
                (each for each in mine.device_ids if known.chips(replace(mine, device_ids=(each,))) & both), "?"
            )
            raise Conflict(say("NPU {number} belongs to the instance {name} already.", number=number, name=one.name))
        if one.spec.port == mine.port:
            raise Conflict(
                say("Port {port} belongs to the instance {name} already.", port=str(mine.port), name=one.name)
            )


def _free_name(session: Session, wanted: str) -> str:
    taken = set(session.scalars(select(models.Instance.name)))
    if wanted not in taken:
        return wanted
    return next(name for number in range(2, 10_000) if (name := f"{wanted}-{number}") not in taken)


def _seen(row: models.Instance) -> Instance:
    """The row as a value; a state that nobody has observed lately is shown as lost, with that as the reason."""
    state, reason = State(row.state), None if row.reason is None else from_json(row.reason)
    age = time.time() - (row.observed or row.created)
    if state not in RESTING and age > WATCHED_S:
        state, reason = State.lost, _unwatched(age)
    return _value(row, state, reason)


def _unwatched(age_s: float) -> Text:
    """Why nothing was written down for so long."""
    folder = settings().data
    try:
        room = shutil.disk_usage(folder).free
    except OSError:
        room = FULL_BYTES
    if room < FULL_BYTES:
        return say(
            "How it is was not written down for {seconds} s, because the disk of {folder} is full ({room} KiB free); "
            "the server itself may run on. Make room on that disk: the console then goes on by itself.",
            seconds=round(age_s),
            folder=str(folder),
            room=room // 1024,
        )
    return say(
        "Nobody has looked at it for {seconds} s: its host does not answer, or the console's worker does not run. "
        "Start the console again with scripts/run.py if it is the worker.",
        seconds=round(age_s),
    )


def _value(row: models.Instance, state: State, reason: Text | None) -> Instance:
    return Instance(
        row.id,
        row.host_id,
        row.name,
        row.backend,
        ServeSpec.from_json(json.loads(row.spec)),
        row.noise,
        Wish(row.wish),
        state,
        reason,
        row.attempt,
        json.loads(row.health),
        row.created,
        row.observed,
    )
