"""Asking for jobs and deciding about them: everything a person can do to a job, each in one transaction."""

import json
import time
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from console.errors import Conflict, InvalidInput, NotFound
from console.jobs.states import ACTIVE, RESUMABLE, JobState, StepState
from console.plans.step import Step
from console.records import move, note, writing
from console.text import Text, say, to_json, verbatim
from db import models


def enqueue(
    kind: str,
    subject: str,
    host_id: int,
    title: Text,
    steps: Sequence[Step],
    *,
    actor: str,
    then: Sequence[str] = (),
    journey: int | None = None,
) -> int:
    """The id of a queued job with these steps, or of the active job this subject already has (a double click).

    `then` names the kinds of job that follow on success (see console/jobs/path.py); `journey` is the first job of
    such a chain.
    """
    try:
        with writing() as session:
            return enqueue_in(session, kind, subject, host_id, title, steps, actor=actor, then=then, journey=journey)
    except IntegrityError:
        with writing() as session:
            active = active_job(session, subject)
            if active is None:
                raise
            return active.id


def enqueue_in(
    session: Session,
    kind: str,
    subject: str,
    host_id: int,
    title: Text,
    steps: Sequence[Step],
    *,
    actor: str,
    then: Sequence[str] = (),
    journey: int | None = None,
) -> int:
    """Like `enqueue`, inside a transaction that is already open."""
    active = active_job(session, subject)
    if active is not None:
        return active.id
    job = models.Job(
        kind=kind,
        subject=subject,
        host_id=host_id,
        title=to_json(title),
        state=JobState.QUEUED,
        attempt=1,
        actor=actor,
        then=json.dumps(list(then)),
        journey=journey,
        created=time.time(),
    )
    job.steps = [
        models.Step(number=number, name=step.name, body=json.dumps(step.to_json()), state=StepState.WAITING, attempt=0)
        for number, step in enumerate(steps, start=1)
    ]
    session.add(job)
    session.flush()
    job.journey = journey or job.id
    note(session, f"job:{job.id}", JobState.QUEUED, actor=actor)
    return job.id


def go_on_with(job_id: int, then: Sequence[str]) -> None:
    """Let these kinds of job follow one that was queued alone and has not ended; no effect on any other."""
    with writing() as session:
        job = _job(session, job_id)
        if job.state in ACTIVE and job.then == "[]":
            job.then = json.dumps(list(then))


def active_job(session: Session, subject: str) -> models.Job | None:
    """The job of this subject that is queued, running or waiting."""
    return session.scalar(select(models.Job).where(models.Job.subject == subject, models.Job.state.in_(ACTIVE)))


def cancel(job_id: int, *, actor: str) -> None:
    """Ask the worker to end the job; a job nobody works on yet ends at once. No effect on a job that has ended."""
    with writing() as session:
        job = _job(session, job_id)
        if job.state == JobState.QUEUED:
            move(session, job, f"job:{job.id}", JobState.CANCELLED, actor=actor, ended=time.time())
        elif job.state in (JobState.RUNNING, JobState.WAITING) and not job.cancel_wanted:
            job.cancel_wanted = True
            note(session, f"job:{job.id}", "cancel asked", was=job.state, actor=actor)


def resume(job_id: int, *, actor: str) -> None:
    """Queue a failed or cancelled job again: finished steps stay finished, the others wait."""
    with writing() as session:
        job = _job(session, job_id)
        if job.state not in RESUMABLE:
            raise Conflict(
                say(
                    "Only a job that failed or was cancelled can be resumed; this one is {state}.",
                    state=say_state(job.state),
                )
            )
        if active_job(session, job.subject) is not None:
            raise Conflict(say("Another job works on the same thing. Wait for it or cancel it, then resume this one."))
        for step in job.steps:
            if step.state in (StepState.FAILED, StepState.CANCELLED, StepState.RUNNING):
                step.state, step.reason = StepState.WAITING, None
        move(
            session,
            job,
            f"job:{job.id}",
            JobState.QUEUED,
            actor=actor,
            attempt=job.attempt + 1,
            ended=None,
            cancel_wanted=False,
            question=None,
            answer=None,
        )


def retry(job_id: int, number: int, *, actor: str) -> None:
    """Queue a stopped job again, with this step to be done anew whatever became of it; its check comes first."""
    with writing() as session:
        job = _job(session, job_id)
        step = next((step for step in job.steps if step.number == number), None)
        if step is None:
            raise NotFound(say("This job has no step {number}.", number=number))
        if job.state not in RESUMABLE:
            raise Conflict(say("A step can be done again only when its job has stopped."))
        if active_job(session, job.subject) is None:
            move(session, step, f"job:{job.id}", StepState.WAITING, actor=actor, reason=None)
    resume(job_id, actor=actor)


def skip(job_id: int, number: int, reason: str, *, actor: str) -> None:
    """Mark one failed or waiting step of a stopped job as skipped, with the person's reason; then resume."""
    if not reason.strip():
        raise InvalidInput(say("Say why the step can be skipped: the report shows it."))
    with writing() as session:
        job = _job(session, job_id)
        step = next((step for step in job.steps if step.number == number), None)
        if step is None:
            raise NotFound(say("This job has no step {number}.", number=number))
        if job.state not in RESUMABLE or step.state not in (StepState.FAILED, StepState.CANCELLED, StepState.WAITING):
            raise Conflict(say("A step can be skipped only when its job has stopped and the step is not done."))
        move(session, step, f"job:{job.id}", StepState.SKIPPED, actor=actor, reason=verbatim(reason.strip()))


def answer(job_id: int, words: str, *, actor: str) -> None:
    """Give the answer a waiting job asked for; the worker goes on with it."""
    with writing() as session:
        job = _job(session, job_id)
        if job.state != JobState.WAITING:
            raise Conflict(say("This job does not wait for an answer any more."))
        job.answer = words
        note(session, f"job:{job.id}", "answered", was=job.state, actor=actor, reason=verbatim(words))


def _job(session: Session, job_id: int) -> models.Job:
    job = session.get(models.Job, job_id)
    if job is None:
        raise NotFound(say("There is no job {job}.", job=job_id))
    return job


def say_state(state: str) -> Text:
    """The word for a state of a job, a step or an instance."""
    return STATE_WORDS.get(state) or verbatim(state)


STATE_WORDS: dict[str, Text] = {
    "queued": say("queued"),
    "running": say("running"),
    "waiting": say("waiting"),
    "succeeded": say("succeeded"),
    "failed": say("failed"),
    "cancelled": say("cancelled"),
    "satisfied": say("already done"),
    "skipped": say("skipped"),
    "ok": say("done"),
    "starting": say("starting"),
    "ready": say("ready"),
    "unwell": say("unwell"),
    "lost": say("lost"),
    "stopping": say("stopping"),
    "stopped": say("stopped"),
    "cancel asked": say("cancel asked"),
    "answered": say("answered"),
    "created": say("created"),
    "edited": say("edited"),
    "deleted": say("deleted"),
    "on its CPU": say("computes on its CPU"),
    "on its NPUs": say("computes on its NPUs"),
    "waived": say("waived"),
    "waiver ended": say("waiver ended"),
}
