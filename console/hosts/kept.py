"""What hosts printed, as the console keeps it: whole probes, and what was asked again since."""

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from console.facts.probe import Raw
from console.records import reading, writing
from db import models

RUNTIMES = "runtime_"
"""Begins the names under which looks at installed runtimes are kept; what the host is, they do not say."""
RUNTIME = f"{RUNTIMES}local_cpu"
"""Name under which the look at the runtime for the CPU is kept."""
ONLY_FOR = "only_for_check"
"""Name under which a probe for a single check keeps the name of that check."""
_in_turn = threading.Lock()
"""Threads that wait for each other here are served in turn; at SQLite's own lock one of many may wait for ever."""


@dataclass(frozen=True)
class Kept:
    """One whole probe with its time (Unix seconds); `times` of the answers that are newer."""

    probe_id: int
    time: float
    raws: Mapping[str, Raw]
    times: Mapping[str, float] = field(default_factory=dict)


def keep(host_id: int, raws: Iterable[Raw], began: float, *, actor: str) -> None:
    """Write down what a host printed just now; `began` is when it was asked (Unix seconds)."""
    with _in_turn, writing() as session:
        row = models.Probe(host_id=host_id, actor=actor, started=began, ended=time.time())
        row.observations = [
            models.Observation(
                name=raw.name, text=raw.text, code=raw.code, seconds=raw.seconds, timed_out=raw.timed_out
            )
            for raw in raws
        ]
        session.add(row)


def last(host_id: int) -> Kept | None:
    """The last whole probe with what was asked again since laid over it; None when there never was one."""
    with reading() as session:
        row = _whole(session, host_id)
        if row is None:
            return None
        again = select(models.Probe).where(
            models.Probe.host_id == host_id,
            models.Probe.id > row.id,
            models.Probe.observations.any(models.Observation.name == ONLY_FOR),
        )
        raws, times = _raws(row), dict[str, float]()
        for one in session.scalars(again.order_by(models.Probe.id)):
            newer = {name: raw for name, raw in _raws(one).items() if name != ONLY_FOR}
            raws |= newer
            times |= dict.fromkeys(newer, one.ended)
        return Kept(row.id, row.ended, raws, times)


def before(host_id: int, probe_id: int) -> Kept | None:
    """The whole probe before another one, as it was then."""
    with reading() as session:
        row = _whole(session, host_id, probe_id)
        return None if row is None else Kept(row.id, row.ended, _raws(row))


def newest() -> dict[int, int]:
    """The number of the last probe of each host, of whichever kind: as long as it stays, so does what is known."""
    with reading() as session:
        rows = session.execute(select(models.Probe.host_id, func.max(models.Probe.id)).group_by(models.Probe.host_id))
        return {row[0]: row[1] for row in rows}


def _whole(session: Session, host_id: int, earlier_than: int | None = None) -> models.Probe | None:
    names = models.Observation.name
    query = select(models.Probe).where(
        models.Probe.host_id == host_id,
        models.Probe.observations.any((names != ONLY_FOR) & ~names.startswith(RUNTIMES, autoescape=True)),
        ~models.Probe.observations.any(names == ONLY_FOR),
    )
    if earlier_than is not None:
        query = query.where(models.Probe.id < earlier_than)
    return session.scalar(query.order_by(models.Probe.id.desc()).limit(1))


def _raws(row: models.Probe) -> dict[str, Raw]:
    return {one.name: Raw(one.name, one.text, one.code, one.seconds, one.timed_out) for one in row.observations}
