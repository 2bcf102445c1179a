"""Which hosts there are; this machine is one of them from the first start."""

import time
from dataclasses import dataclass

from sqlalchemy import select

from console.errors import NotFound
from console.hosts.local import LocalRunner
from console.hosts.runner import Runner
from console.records import CONSOLE, note, reading, writing
from console.settings import settings
from console.text import Text, say, verbatim
from db import models

LOCAL = "local"
"""Name and kind of the machine the console itself runs on."""


@dataclass(frozen=True)
class Host:
    """A machine we may reach. `work_folder` is where everything of ours lives on it."""

    id: int
    name: str
    kind: str
    work_folder: str

    @property
    def title(self) -> Text:
        """The name people read, as it stands inside a sentence."""
        return say("this machine") if self.kind == LOCAL else verbatim(self.name)


def hosts() -> list[Host]:
    """Every host, this machine first."""
    with reading() as session:
        return [_host(row) for row in session.scalars(select(models.Host).order_by(models.Host.id))]


def host(host_id: int) -> Host:
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


def runner(of: Host) -> Runner:
    """The one way to act on this host."""
    return LocalRunner()


def _host(row: models.Host) -> Host:
    return Host(row.id, row.name, row.kind, row.work_folder)
