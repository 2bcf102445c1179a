"""The commands that were sent to hosts, as rows: written, counted, read, and let go of after a month."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from console.records import reading, writing
from console.text import Text, from_json
from db import models

KEPT_S, MOST_ROWS = 30 * 86_400.0, 50_000

Key = tuple[str, int, str, str, str, int | None, str | None]
"""Path of the database, host, where, actor, script, exit code, error (JSON of a Text)."""


@dataclass
class Sent:
    """A command and how often it was sent. Times are Unix seconds, `seconds` is the longest it took.

    `row` is its number in the database and `written` how many times are counted there.
    """

    first: float
    last: float
    seconds: float
    times: int = 1
    row: int | None = None
    written: int = 0

    @property
    def due(self) -> bool:
        return self.times > self.written


@dataclass(frozen=True)
class Command:
    """A command that was sent `times` times between `first` and `last` (Unix seconds), each with the same end.

    where     as whom and to which server it went, "local" for this machine
    script    secrets masked; what was cut off a long one is counted in its last line, "# … (+<signs>)"
    code      exit code; None when it had none, and then `error` says why
    seconds   the longest it took
    """

    id: int
    host_id: int
    where: str
    actor: str
    script: str
    times: int
    first: float
    last: float
    code: int | None
    error: Text | None
    seconds: float


def commands(*, host_id: int | None = None, actor: str | None = None, limit: int = 200) -> list[Command]:
    """The latest first, of one host or person or of all."""
    query = select(models.Command).order_by(models.Command.last.desc(), models.Command.id.desc()).limit(limit)
    if host_id is not None:
        query = query.where(models.Command.host_id == host_id)
    if actor is not None:
        query = query.where(models.Command.actor == actor)
    with reading() as session:
        return [_command(row) for row in session.scalars(query)]


def actors() -> list[str]:
    """Everybody in whose name commands were sent."""
    with reading() as session:
        return sorted(session.scalars(select(models.Command.actor).distinct()))


def store(news: Sequence[tuple[Key, Sent]]) -> list[int]:
    """Write new rows and new counts in one transaction; the number of each row. IntegrityError for a host not known."""
    with writing() as session:
        rows = [_put(session, key, one) for key, one in news]
        session.flush()
        return [row if isinstance(row, int) else row.id for row in rows]


def prune(now: float, *, most: int = MOST_ROWS) -> None:
    """Let go of rows that nobody will ask for: those older than KEPT_S, and the oldest beyond `most`."""
    newest = select(models.Command.id).order_by(models.Command.id.desc())
    with writing() as session:
        beyond = session.scalar(newest.offset(most).limit(1))
        old = models.Command.last < now - KEPT_S
        session.execute(delete(models.Command).where(old if beyond is None else old | (models.Command.id <= beyond)))


def _put(session: Session, key: Key, one: Sent) -> models.Command | int:
    counts = {"times": one.times, "last": one.last, "seconds": one.seconds}
    if one.row is not None:
        session.execute(
            update(models.Command)
            .where(models.Command.id == one.row)
            .values(counts)
            .execution_options(synchronize_session=False)
        )
        return one.row
    _, host_id, where, actor, script, code, error = key
    row = models.Command(
        host_id=host_id, where=where, actor=actor, script=script, code=code, error=error, first=one.first, **counts
    )
    session.add(row)
    return row


def _command(row: models.Command) -> Command:
    error = None if row.error is None else from_json(row.error)
    return Command(
        row.id,
        row.host_id,
        row.where,
        row.actor,
        row.script,
        row.times,
        row.first,
        row.last,
        row.code,
        error,
        row.seconds,
    )
