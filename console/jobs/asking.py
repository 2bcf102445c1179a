"""Putting a question of a job to a person, and waiting for the answer however long it takes."""

import time
from typing import TYPE_CHECKING

from console.jobs.states import JobState
from console.records import CONSOLE, move, reading, writing
from console.text import Text, to_json
from db import models

if TYPE_CHECKING:
    from console.jobs.carry import Carry

TICK_S = 0.3


def ask(carry: "Carry", question: Text, *, again: int | None = None) -> str:
    """The answer, "yes" or "no". The job waits meanwhile; a worker that takes it up waits on.

    Once answered, the step of number `again` is due for its next attempt.
    """
    with writing() as session:
        job = session.get_one(models.Job, carry.job_id)
        if job.state == JobState.RUNNING:
            stored = to_json(question)
            move(
                session,
                job,
                carry.subject,
                JobState.WAITING,
                actor=CONSOLE,
                reason=question,
                question=stored,
                answer=None,
            )
    while True:
        carry.wanted()
        with reading() as session:
            answer = session.get_one(models.Job, carry.job_id).answer
        if answer is not None:
            break
        time.sleep(TICK_S)
    with writing() as session:
        job = session.get_one(models.Job, carry.job_id)
        move(session, job, carry.subject, JobState.RUNNING, actor=CONSOLE, question=None)
        for step in job.steps:
            if step.number == again:
                step.attempt, step.started = step.attempt + 1, time.time()
    return answer
