"""What happened: jobs with their steps, and the events of everything, as values for pages and exports."""

import json
import time
from dataclasses import dataclass

from sqlalchemy import func, select

from console.errors import NotFound
from console.jobs.logs import step_log
from console.jobs.states import ACTIVE, FINISHED_STEPS, JobState
from console.plans.step import Step
from console.records import reading
from console.text import Text, from_json, say
from db import models

BY_HAND = say("{title}, done by hand", title="")
"""What a job is called whose steps a person carried out; it was made when their results were brought."""


@dataclass(frozen=True)
class StepView:
    """One step of a job. Times are Unix seconds; `attempt` counts its runs, 0 = never run."""

    number: int
    step: Step
    state: str
    attempt: int
    started: float | None
    ended: float | None
    code: int | None
    reason: Text | None
    job_id: int

    @property
    def elapsed(self) -> float | None:
        return None if self.started is None else (self.ended or time.time()) - self.started

    @property
    def told_s(self) -> float | None:
        """Seconds it took by the results that a person brought; None where the console did it, or nobody told."""
        return None if self.reason is None or self.started is not None else _told_s(self.reason)

    def log(self, attempt: int | None = None) -> str:
        """The end of what this step printed in one of its attempts, the latest unless named."""
        return step_log(self.job_id, self.number, self.attempt if attempt is None else attempt).tail()


@dataclass(frozen=True)
class JobView:
    """One job. `then` are the kinds of job that follow on success; `journey` the first job of its path.

    `answered`: what it asks has its answer already, which the worker takes up in a moment.
    """

    id: int
    kind: str
    subject: str
    host_id: int
    title: Text
    state: str
    attempt: int
    actor: str
    journey: int
    then: tuple[str, ...]
    created: float
    started: float | None
    ended: float | None
    reason: Text | None
    question: Text | None
    cancel_wanted: bool
    steps: tuple[StepView, ...] = ()
    answered: bool = False

    @property
    def active(self) -> bool:
        return self.state in ACTIVE

    @property
    def by_hand(self) -> bool:
        """Whether a person carried it out; the console may have done what was left."""
        return self.title.sentence == BY_HAND.sentence

    @property
    def elapsed(self) -> float | None:
        """Of one done by hand what its results tell: how long it took to write them down says nothing."""
        if self.by_hand:
            times = [took for one in self.steps for took in (one.told_s, one.elapsed) if took is not None]
            return sum(times) if times else None
        return None if self.started is None else (self.ended or time.time()) - self.started

    @property
    def done(self) -> int:
        """How many of its steps are finished."""
        return sum(step.state in FINISHED_STEPS for step in self.steps)

    @property
    def current(self) -> StepView | None:
        """The step that runs, or the one that stopped the job."""
        return next((step for step in self.steps if step.state not in FINISHED_STEPS), None)


@dataclass(frozen=True)
class EventView:
    id: int
    time: float
    actor: str
    subject: str
    was: str | None
    became: str
    reason: Text | None


def job(job_id: int) -> JobView:
    """One job with its steps."""
    with reading() as session:
        row = session.get(models.Job, job_id)
        if row is None:
            raise NotFound(say("There is no job {job}.", job=job_id))
        return _job(row)


def jobs(limit: int = 200, *, host_id: int | None = None, active_only: bool = False) -> list[JobView]:
    """The latest jobs first."""
    query = select(models.Job).order_by(models.Job.id.desc()).limit(limit)
    if host_id is not None:
        query = query.where(models.Job.host_id == host_id)
    if active_only:
        query = query.where(models.Job.state.in_(ACTIVE))
    with reading() as session:
        return [_job(row) for row in session.scalars(query)]


def latest(kind: str, host_id: int) -> JobView | None:
    """The latest job of this kind on this host."""
    query = select(models.Job).where(models.Job.kind == kind, models.Job.host_id == host_id)
    with reading() as session:
        row = session.scalar(query.order_by(models.Job.id.desc()).limit(1))
        return None if row is None else _job(row)


def for_subject(subject: str, limit: int = 50) -> list[JobView]:
    """The latest jobs of one host or instance."""
    query = select(models.Job).where(models.Job.subject == subject).order_by(models.Job.id.desc()).limit(limit)
    with reading() as session:
        return [_job(row) for row in session.scalars(query)]


def journey(first: int) -> list[JobView]:
    """The jobs of one path, in the order they were queued."""
    query = select(models.Job).where(models.Job.journey == first).order_by(models.Job.id)
    with reading() as session:
        return [_job(row) for row in session.scalars(query)]


def events(subject: str | None = None, limit: int = 200) -> list[EventView]:
    """The latest first, of one subject or of all."""
    query = select(models.Event).order_by(models.Event.id.desc()).limit(limit)
    if subject is not None:
        query = query.where(models.Event.subject == subject)
    with reading() as session:
        return [
            EventView(row.id, row.time, row.actor, row.subject, row.was, row.became, _words(row.reason))
            for row in session.scalars(query)
        ]


def active_count() -> int:
    """How many jobs are queued, running or waiting."""
    query = select(func.count()).select_from(models.Job).where(models.Job.state.in_(ACTIVE))
    with reading() as session:
        return session.scalar(query) or 0


def _job(row: models.Job) -> JobView:
    steps = tuple(
        StepView(
            step.number,
            Step.from_json(json.loads(step.body)),
            step.state,
            step.attempt,
            step.started,
            step.ended,
            step.code,
            _words(step.reason),
            row.id,
        )
        for step in row.steps
    )
    return JobView(
        row.id,
        row.kind,
        row.subject,
        row.host_id,
        from_json(row.title),
        JobState(row.state),
        row.attempt,
        row.actor,
        row.journey or row.id,
        tuple(json.loads(row.then)),
        row.created,
        row.started,
        row.ended,
        _words(row.reason),
        None if row.question is None else from_json(row.question),
        row.cancel_wanted,
        steps,
        row.answer is not None,
    )


def _told_s(told: Text) -> float | None:
    """The seconds in what `by_hand.Line` says of a step; a sentence may stand in another one."""
    seconds = told.values.get("seconds")
    if "machine" in told.values and isinstance(seconds, int):
        return float(seconds)
    inner = (_told_s(one) for one in told.values.values() if isinstance(one, Text))
    return next((found for found in inner if found is not None), None)


def _words(stored: str | None) -> Text | None:
    return None if stored is None else from_json(stored)
