"""Which hosts there are; this machine is one of them from the first start."""

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from console.errors import Conflict, InvalidInput, NotFound
from console.hosts import reach as reaches
from console.hosts.journal import Recorded
from console.hosts.local import LocalRunner
from console.hosts.reach import Reach
from console.hosts.runner import Runner
from console.records import CONSOLE, note, reading, writing
from console.settings import settings
from console.text import Text, say, verbatim
from db import models

LOCAL, SSH = "local", "ssh"
"""Kinds of host. LOCAL is also the name of the machine the console itself runs on."""
NAME = re.compile(r"\w[\w.-]{0,62}")
TAG = re.compile(r"\w[\w.:=-]{0,62}")
BUSY_JOBS = ("queued", "running", "waiting")


@dataclass(frozen=True)
class Host:
    """A machine we may reach. `work_folder` is where everything of ours lives on it; `reach` is None for this one.

    scenario   what a rehearsal host plays; None for a machine that is what it seems
    """

    id: int
    name: str
    kind: str
    work_folder: str
    reach: Reach | None = None
    tags: tuple[str, ...] = ()
    scenario: str | None = None

    @property
    def title(self) -> Text:
        """The name people read, as it stands inside a sentence."""
        return say("this machine") if self.kind == LOCAL else self.label

    @property
    def label(self) -> Text:
        """The name as it was given, with the mark that every rehearsal host bears wherever it is shown."""
        return verbatim(self.name) if self.scenario is None else say("{name} (simulated)", name=self.name)


def hosts() -> list[Host]:
    """Every host, this machine first."""
    with reading() as session:
        present = select(models.Host).where(models.Host.removed.is_(None))
        return [_host(row) for row in session.scalars(present.order_by(models.Host.id))]


def host(host_id: int) -> Host:
    """Removed ones too: history names them."""
    with reading() as session:
        row = session.get(models.Host, host_id)
    if row is None:
        raise NotFound(say("There is no host {host}.", host=host_id))
    return _host(row)


def named(name: str) -> Host:
    """The host with this name. NotFound names those that exist."""
    known = hosts()
    for one in known:
        if one.name == name:
            return one
    raise NotFound(
        say("There is no host named {name}. Known: {known}.", name=name, known=", ".join(one.name for one in known))
    )


def this_machine() -> Host:
    """The local host, entered into the inventory when it is not there yet."""
    with writing() as session:
        row = session.scalar(select(models.Host).where(models.Host.kind == LOCAL))
        if row is None:
            row = models.Host(name=LOCAL, kind=LOCAL, work_folder=str(settings().data), created=time.time())
            session.add(row)
            session.flush()
            note(session, f"host:{row.id}", "created", actor=CONSOLE)
        elif row.work_folder != str(settings().data):
            row.work_folder = str(settings().data)
        return _host(row)


def add_host(
    name: str,
    reach: Reach,
    *,
    tags: Iterable[str] = (),
    work_folder: str = "",
    scenario: str | None = None,
    actor: str,
) -> Host:
    """Enter a host that is reached over SSH; nothing is connected. Conflict when the name is taken."""
    this_machine()  # it stays the first
    with writing() as session:
        entered = add_in(session, name, reach, tags=tags, work_folder=work_folder, actor=actor)
        session.get_one(models.Host, entered.id).scenario = scenario
    return replace(entered, scenario=scenario)


def add_in(
    session: Session, name: str, reach: Reach, *, tags: Iterable[str] = (), work_folder: str = "", actor: str
) -> Host:
    """Like `add_host`, inside a transaction that is already open."""
    row = models.Host(kind=SSH, created=time.time())
    _fill(session, row, name, reach, tags, work_folder)
    session.add(row)
    session.flush()
    note(session, f"host:{row.id}", "created", actor=actor)
    return _host(row)


def edit_host(
    host_id: int, name: str, reach: Reach, *, tags: Iterable[str] = (), work_folder: str = "", actor: str
) -> Host:
    """Change how a host is called and reached. Conflict while something of ours runs on it."""
    with writing() as session:
        return edit_in(session, host_id, name, reach, tags=tags, work_folder=work_folder, actor=actor)


def edit_in(
    session: Session,
    host_id: int,
    name: str,
    reach: Reach,
    *,
    tags: Iterable[str] = (),
    work_folder: str = "",
    actor: str,
) -> Host:
    """Like `edit_host`, inside a transaction that is already open."""
    row = _remote(session, host_id)
    if row.scenario is not None and row.reach != reach.to_json():
        raise InvalidInput(
            say("How a rehearsal host is reached is up to the console; change its name, tags or work folder only.")
        )
    if row.reach != reach.to_json() or (work_folder and row.work_folder != work_folder):
        _refuse_while_used(session, row)
    _fill(session, row, name, reach, tags, work_folder)
    note(session, f"host:{row.id}", "edited", actor=actor)
    return _host(row)


def why_in_use(host_id: int) -> Text | None:
    """Why this host can be neither removed nor reached in another way now; None when nothing of ours needs it."""
    with reading() as session:
        try:
            _refuse_while_used(session, _remote(session, host_id))
        except (Conflict, InvalidInput) as error:
            return error.text
    return None


def remove_host(host_id: int, *, actor: str) -> None:
    """Forget a host, its stopped instances and what it said; jobs and runs stay in the history.

    Nothing is done on the host itself, except that a rehearsal host ends and its folders go. Conflict while an
    instance that is not stopped, or a job, needs it.
    """
    with writing() as session:
        row = _remote(session, host_id)
        _refuse_while_used(session, row)
        for table in (models.Instance, models.Probe, models.ModelFolder):
            session.execute(delete(table).where(table.host_id == host_id))
        note(session, f"host:{row.id}", "deleted", actor=actor, reason=verbatim(row.name))
        gone = _host(row)
        row.name, row.removed = f"{row.name}#{row.id}", time.time()
    if gone.scenario is not None:
        from console.hosts import rehearsal

        rehearsal.destroy(gone)


def runner(of: Host, *, actor: str | None = None) -> Runner:
    """The one way to act on this host; every command is written down, in the name of `actor` or of who acts here."""
    if of.scenario is not None:
        from console.hosts import rehearsal

        of = rehearsal.awake(of)
    if of.reach is None:
        return Recorded(LocalRunner(), of.id, LOCAL, actor)
    from console.hosts.connection import connection
    from console.hosts.ssh import SshRunner

    return Recorded(SshRunner(connection(of.reach)), of.id, str(of.reach), actor)


def relocate(host_id: int, reach: Reach) -> None:
    """Note that the console itself moved a rehearsal host of its own to another port."""
    with writing() as session:
        row = _remote(session, host_id)
        row.reach = reach.to_json()
        note(session, f"host:{row.id}", "edited", actor=CONSOLE)


def _remote(session: Session, host_id: int) -> models.Host:
    row = session.get(models.Host, host_id)
    if row is None or row.removed is not None:
        raise NotFound(say("There is no host {host}.", host=host_id))
    if row.kind == LOCAL:
        raise InvalidInput(say("This machine is always in the inventory; it is neither edited nor removed."))
    return row


def _refuse_while_used(session: Session, row: models.Host) -> None:
    unstopped = select(models.Instance.name).where(
        models.Instance.host_id == row.id, models.Instance.state != "stopped"
    )
    if names := list(session.scalars(unstopped)):
        raise Conflict(
            say(
                "{host} still has instances that are not stopped: {names}. Stop them first.",
                host=row.name,
                names=", ".join(names),
            )
        )
    active = select(models.Job.id).where(models.Job.host_id == row.id, models.Job.state.in_(BUSY_JOBS))
    if (job := session.scalar(active.limit(1))) is not None:
        raise Conflict(say("Job {job} is at work on {host}. Wait for it or cancel it first.", job=job, host=row.name))


def checked(name: str, reach: Reach, tags: Iterable[str], work_folder: str) -> tuple[str, str, tuple[str, ...]]:
    """Name, work folder and tags as they would be stored. InvalidInput says what cannot be."""
    name, folder = name.strip(), work_folder.strip() or _home(reach.user) + "/ascend-pilot"
    if not NAME.fullmatch(name):
        raise InvalidInput(
            say("“{name}” is no name for a host. Use letters, digits, dots and dashes, at most 63.", name=name)
        )
    if not folder.startswith("/"):
        raise InvalidInput(say("The work folder must be an absolute path on the host, not {folder}.", folder=folder))
    return name, folder.rstrip("/") or "/", tuple(_tags(tags))


def _fill(session: Session, row: models.Host, name: str, reach: Reach, tags: Iterable[str], work_folder: str) -> None:
    name, folder, words = checked(name, reach, tags, work_folder.strip() or row.work_folder or "")
    with session.no_autoflush:
        taken = session.scalar(select(models.Host.id).where(models.Host.name == name))
    if taken is not None and taken != row.id:
        raise Conflict(say("There is a host named {name} already. Choose another name, or edit that one.", name=name))
    row.name, row.reach, row.work_folder, row.tags = name, reach.to_json(), folder, " ".join(words)


def _tags(given: Iterable[str]) -> list[str]:
    words = sorted({word for one in given for word in re.split(r"[\s,]+", one) if word})
    for word in words:
        if not TAG.fullmatch(word):
            raise InvalidInput(say("“{tag}” is no tag. Use letters, digits, dots and dashes.", tag=word))
    return words


def _home(user: str) -> str:
    return "/root" if user == "root" else f"/home/{user}"


def _host(row: models.Host) -> Host:
    reach = None if row.reach is None else reaches.from_json(row.reach)
    return Host(row.id, row.name, row.kind, row.work_folder, reach, tuple(row.tags.split()), row.scenario)
