"""How long the pilot of a host took from the bare host to its first answer: when each stage began and was first done.

Everything is read from rows that stay: the host, its probes, jobs and steps, starts, answers and measurements. So it
holds over several sittings, and for a pilot that was walked by hand too.
"""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from console.hosts.inventory import Host
from console.jobs.states import JobState
from console.records import reading
from db import models

NAMES = ("host", "check", "install", "serve", "try", "measure")
KINDS = {
    "check": ("check",),
    "install": ("install",),
    "serve": ("start", "restart"),
    "try": ("try",),
    "measure": ("measure",),
}


@dataclass(frozen=True)
class Span:
    """One stage: when it first began and when it was first done, in Unix seconds; None = not yet."""

    name: str
    began: float | None
    done: float | None

    @property
    def took_s(self) -> float | None:
        return None if self.began is None or self.done is None else max(0.0, self.done - self.began)


@dataclass(frozen=True)
class Timeline:
    """`added`: when the host was entered; `work_s`: how long steps ran until the first answer, or so far."""

    added: float
    spans: tuple[Span, ...]
    work_s: float

    @property
    def to_answer_s(self) -> float | None:
        """Seconds from the bare host to the first answer; None before there is one."""
        answered = next(one.done for one in self.spans if one.name == "try")
        return None if answered is None else max(0.0, answered - self.added)


def timeline(host: Host) -> Timeline:
    """As far as the pilot of this host has come."""
    with reading() as session:
        added = session.get_one(models.Host, host.id).created
        asked = session.scalar(select(func.min(models.Probe.ended)).where(models.Probe.host_id == host.id))
        spans = [Span("host", added, asked), *(_span(session, host.id, name) for name in NAMES[1:])]
        until = next(one.done for one in spans if one.name == "try") or time.time()
        ran = session.execute(
            select(models.Step.started, models.Step.ended)
            .join(models.Job)
            .where(models.Job.host_id == host.id, models.Step.started.is_not(None))
        )
        work_s = covered((began, min(ended or until, until)) for began, ended in ran if began is not None)
    return Timeline(added, tuple(spans), work_s)


def covered(pieces: Iterable[tuple[float, float]]) -> float:
    """Seconds covered by at least one of these pieces of time."""
    total, reached = 0.0, float("-inf")
    for began, ended in sorted(pieces):
        total += max(0.0, ended - max(began, reached))
        reached = max(reached, ended)
    return total


def _span(session: Session, host_id: int, name: str) -> Span:
    mine = select(models.Job.started, models.Job.ended, models.Job.state).where(
        models.Job.host_id == host_id, models.Job.kind.in_(KINDS[name]), models.Job.started.is_not(None)
    )
    jobs = session.execute(mine).all()
    by_hand = {"serve": _starts, "try": _answers, "measure": _runs}
    began, done = by_hand[name](session, host_id) if name in by_hand else ([], [])
    began = [*began, *(job.started for job in jobs)]
    done = [*done, *(job.ended for job in jobs if job.state == JobState.SUCCEEDED and job.ended)]
    return Span(name, min(began, default=None), min(done, default=None))


Moments = tuple[Sequence[float], Sequence[float]]


def _starts(session: Session, host_id: int) -> Moments:
    query = (
        select(models.Attempt.started, models.Attempt.ready)
        .join(models.Instance, models.Attempt.instance_id == models.Instance.id)
        .where(models.Instance.host_id == host_id)
    )
    rows = session.execute(query).all()
    return [row.started for row in rows], [row.ready for row in rows if row.ready is not None]


def _answers(session: Session, host_id: int) -> Moments:
    """Questions, and answers that were not cut off; the first few of each are enough."""
    query = (
        select(models.Message)
        .join(models.Conversation)
        .join(models.Instance, models.Conversation.instance_id == models.Instance.id)
        .where(models.Instance.host_id == host_id)
        .order_by(models.Message.id)
        .limit(40)
    )
    rows = list(session.scalars(query))
    whole = [row for row in rows if row.role == "assistant" and json.loads(row.figures).get("partial") is None]
    return [row.created for row in rows if row.role == "user"], [row.created for row in whole]


def _runs(session: Session, host_id: int) -> Moments:
    rows = session.execute(select(models.Run.started, models.Run.ended).where(models.Run.host_id == host_id)).all()
    return [row.started for row in rows], [row.ended for row in rows]
