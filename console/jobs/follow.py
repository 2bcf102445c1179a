"""One script step on its host: start it detached or adopt it, copy its log, put its question to a person."""

import json
import shlex
import time
from typing import TYPE_CHECKING

from console.hosts.process import Detached, Life
from console.jobs.logs import Log, step_log
from console.jobs.states import JobState
from console.plans.step import ASK_EXIT_CODE, Step
from console.records import CONSOLE, move, reading, writing
from console.text import Text, say, to_json, verbatim
from db import models

if TYPE_CHECKING:
    from console.jobs.carry import Carry

TICK_S = 0.3
MOST_QUESTIONS = 3


class Cancelled(Exception):
    """A person asked for the end of this job."""


class LetGo(Exception):
    """The worker is going down: leave everything as it is, the next worker adopts it."""


class StepFailed(Exception):
    """Why the step failed, and the exit code when there is one."""

    def __init__(self, reason: Text, code: int | None = None) -> None:
        super().__init__(str(reason))
        self.reason, self.code = reason, code


def run_script(carry: "Carry", number: int, step: Step) -> None:
    """Until the script has ended with 0; StepFailed, Cancelled or LetGo otherwise."""
    for _ in range(MOST_QUESTIONS + 1):
        attempt = carry.row(number).attempt
        detached = _started(carry, number, step, attempt)
        code = _followed(carry, number, step, detached, step_log(carry.job_id, number, attempt))
        if code == 0:
            return
        if code != ASK_EXIT_CODE:
            raise StepFailed(say("The command ended with exit code {code}.", code=code), code)
        _asked(carry, number, _question(carry, detached))
    raise StepFailed(say("The step asked again after {times} answers.", times=MOST_QUESTIONS), ASK_EXIT_CODE)


def _started(carry: "Carry", number: int, step: Step, attempt: int) -> Detached:
    detached = Detached(carry.runner, f"{carry.work_folder}/jobs/{carry.job_id}/{number:02d}-{step.name}.{attempt}")
    if detached.look().life == Life.ABSENT:
        with reading() as session:
            words = session.get_one(models.Job, carry.job_id).answer
        answered = "" if words is None else f"PILOT_ANSWER={shlex.quote(words)}\nexport PILOT_ANSWER\n"
        detached.start(answered + step.script)
    return detached


def _followed(carry: "Carry", number: int, step: Step, detached: Detached, log: Log) -> int:
    """The exit code, once the command has ended and its whole log is here."""
    begun = carry.row(number).started or time.time()
    while True:
        look = detached.look(log.size)
        log.take(look.log, ended=look.life != Life.RUNNING)
        if look.life != Life.RUNNING and log.size >= look.log_size:
            if look.code is None:
                raise StepFailed(say("The command ended without an exit code: it was killed, or the host restarted."))
            return look.code
        _heed(carry, detached)
        if time.time() - begun > step.timeout_s:
            detached.stop()
            raise StepFailed(
                say("The step took longer than its limit of {limit} s and was ended.", limit=round(step.timeout_s))
            )
        time.sleep(TICK_S)


def _heed(carry: "Carry", detached: Detached) -> None:
    try:
        carry.wanted()
    except Cancelled:
        detached.stop()
        raise


def _question(carry: "Carry", detached: Detached) -> Text:
    """What the script wrote to its file `ask`: {"sentence": ..., "values": {...}}."""
    outcome = carry.runner.run(f"head -c 10000 {shlex.quote(detached.folder)}/ask")
    try:
        asked = json.loads(outcome.out)
        return Text(str(asked["sentence"]), dict(asked.get("values", {})))
    except (ValueError, KeyError, TypeError):
        return verbatim(outcome.out.strip() or outcome.err.strip())


def _asked(carry: "Carry", number: int, question: Text) -> None:
    """Put the job to waiting until a person has answered; then the step is due for its next attempt."""
    with writing() as session:
        job = session.get_one(models.Job, carry.job_id)
        if job.state == JobState.RUNNING:
            move(
                session,
                job,
                carry.subject,
                JobState.WAITING,
                actor=CONSOLE,
                reason=question,
                question=to_json(question),
                answer=None,
            )
    while True:
        carry.wanted()
        with reading() as session:
            job = session.get_one(models.Job, carry.job_id)
            if job.answer is not None:
                break
        time.sleep(TICK_S)
    with writing() as session:
        job = session.get_one(models.Job, carry.job_id)
        move(session, job, carry.subject, JobState.RUNNING, actor=CONSOLE, question=None)
        step = next(step for step in job.steps if step.number == number)
        step.attempt, step.started = step.attempt + 1, time.time()
