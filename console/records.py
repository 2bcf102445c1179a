"""The one open database of this process, and the rule by which every state moves."""

import functools
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import CursorResult, Engine, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from console.errors import Conflict, DataError
from console.settings import settings
from console.text import Text, say, to_json
from db.connect import open_database
from db.migrations import SchemaTooNew
from db.models import Event, Instance, Job, Step
from db.session import reading as reading_of
from db.session import writing as writing_of

CONSOLE = "console"
"""The actor of moves that nobody asked for: the worker saw something."""


@functools.cache
def engine() -> Engine:
    """Opened once per process. Raises DataError with what to do."""
    path = settings().database
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open_database(path)
    except SchemaTooNew as error:
        raise DataError(
            say(
                "The database {path} was written by a newer version of this console (schema {found}; this version "
                "knows up to {known}). Start the newer console, or choose another data folder with --data.",
                path=str(path),
                found=error.found,
                known=error.known,
            )
        ) from error
    except (OSError, sqlite3.Error) as error:
        raise DataError(
            say(
                "The database {path} cannot be opened: {error}. Check that the folder exists, belongs to you and "
                "that its disk has room, or choose another data folder with --data.",
                path=str(path),
                error=str(error),
            )
        ) from error


@contextmanager
def reading() -> Iterator[Session]:
    """A session that writes nothing."""
    with _explained(), reading_of(engine()) as session:
        yield session


@contextmanager
def writing() -> Iterator[Session]:
    """A transaction that holds the write lock from its start."""
    with _explained(), writing_of(engine()) as session:
        yield session


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        raise DataError(
            say(
                "The console's database could not be used: {error}. Usually the disk of {path} is full or another "
                "program holds the file. Make room, then try again; what was stored before is intact.",
                error=str(error.orig),
                path=str(settings().data),
            )
        ) from error


def move(
    session: Session,
    row: Job | Step | Instance,
    subject: str,
    became: str,
    *,
    actor: str,
    reason: Text | None = None,
    **also: object,
) -> None:
    """Compare-and-set `row.state` to `became` (with the columns in `also`) and write the event.

    Raises Conflict when the state in the database is no longer the one that `row` was read with.
    """
    was = row.state
    table = type(row)
    stored = None if reason is None else to_json(reason)
    statement = (
        update(table)
        .where(table.id == row.id, table.state == was)
        .values(state=became, reason=stored, **also)
        .execution_options(synchronize_session=False)
    )
    result = session.execute(statement)
    assert isinstance(result, CursorResult)
    if result.rowcount != 1:
        raise Conflict(say("This changed meanwhile. Look at its present state and decide again."))
    session.expire(row)
    note(session, subject, became, was=was, actor=actor, reason=reason)


def note(
    session: Session, subject: str, became: str, *, actor: str, was: str | None = None, reason: Text | None = None
) -> None:
    """Write one line of history."""
    stored = None if reason is None else to_json(reason)
    session.add(Event(time=time.time(), actor=actor, subject=subject, was=was, became=became, reason=stored))
