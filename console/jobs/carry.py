"""Carrying out one job: verify, run detached, follow, verify again; the same loop for every kind of job."""

import errno
import json
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from console.errors import ConsoleError, DataError
from console.hosts import inventory
from console.hosts.journal import acting
from console.hosts.runner import Runner
from console.jobs import path
from console.jobs.actions import ACTIONS
from console.jobs.ends import Cancelled, LetGo, StepFailed
from console.jobs.follow import run_script
from console.jobs.jobs import enqueue_in
from console.jobs.logs import step_log
from console.jobs.ride import ride
from console.jobs.states import FINISHED_STEPS, JobState, StepState
from console.plans.step import Step
from console.records import CONSOLE, move, reading, writing
from console.serving import instances
from console.text import Text, say, to_json
from db import models

VERIFY_TIMEOUT_S = 120
TICK_S = 0.3
STARTING = ("start", "restart")
"""The kinds of job whose subject is a server that they bring up."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@dataclass
class Carry:
    """One job in the hands of the worker. `going_down` turns true when the worker must let go.

    reached   whether the host has answered in this job, or in the one that led to it: then a lost connection is
              ridden out, else told at once
    """

    job_id: int
    going_down: Callable[[], bool]
    host: inventory.Host = field(init=False)
    runner: Runner = field(init=False)
    reached: bool = False

    @property
    def host_id(self) -> int:
        return self.host.id

    @property
    def work_folder(self) -> str:
        return self.host.work_folder

    def run(self) -> None:
        """Carry the job to its end, or let go of it. Never raises."""
        try:
            with reading() as session:
                actor = session.get_one(models.Job, self.job_id).actor
            with acting(actor):
                self._carry()
        except DataError:
            traceback.print_exc()  # what happened could not be written down: the worker takes the job up again

    # -- the job ---------------------------------------------------------------------------------------------

    def _carry(self) -> None:
        try:
            self._take()
            for number in self._numbers():
                self._step(number)
            self._succeed()
        except LetGo:
            return
        except Cancelled as wish:
            self._end(JobState.CANCELLED, wish.reason)
        except StepFailed as failure:
            self._end(JobState.FAILED, failure.reason)
        except DataError:
            raise
        except ConsoleError as error:
            self._end(JobState.FAILED, error.text)
        except Exception as error:
            traceback.print_exc()
            self._end(JobState.FAILED, _internal(error))

    def _take(self) -> None:
        with writing() as session:
            job = session.get_one(models.Job, self.job_id)
            host_id = job.host_id
            self.reached = job.state != JobState.QUEUED or job.journey not in (None, job.id)
            if job.state == JobState.QUEUED:
                move(session, job, self.subject, JobState.RUNNING, actor=CONSOLE, started=job.started or time.time())
        self.host = inventory.host(host_id)
        self.runner = inventory.runner(self.host)

    def _numbers(self) -> list[int]:
        with reading() as session:
            return [step.number for step in session.get_one(models.Job, self.job_id).steps]

    def _succeed(self) -> None:
        """End the job and queue what follows in one transaction, so that no kill can lose the rest of the path."""
        following = ride(self, lambda: path.following(self.job_id), 0)
        with writing() as session:
            job = session.get_one(models.Job, self.job_id)
            move(session, job, self.subject, JobState.SUCCEEDED, actor=CONSOLE, ended=time.time(), cancel_wanted=False)
            if following is not None:
                enqueue_in(
                    session,
                    following.kind,
                    following.subject,
                    job.host_id,
                    following.title,
                    following.steps,
                    actor=job.actor,
                    then=following.then,
                    journey=job.journey,
                )

    def _end(self, state: JobState, reason: Text | None) -> None:
        """End the job; a start that was cancelled takes what it had begun to start with it."""
        with writing() as session:
            job = session.get_one(models.Job, self.job_id)
            if state == JobState.CANCELLED and job.kind in STARTING:
                number = int(job.subject.removeprefix("instance:"))
                if session.get(models.Instance, number) is not None:
                    instances.wish_down_in(session, number, actor=job.actor)
            if job.state in (JobState.RUNNING, JobState.WAITING):
                move(
                    session,
                    job,
                    self.subject,
                    state,
                    actor=CONSOLE,
                    reason=reason,
                    ended=time.time(),
                    cancel_wanted=False,
                    question=None,
                )

    @property
    def subject(self) -> str:
        return f"job:{self.job_id}"

    def wanted(self) -> None:
        """Raises Cancelled or LetGo when the job must not go on."""
        if self.going_down():
            raise LetGo
        with reading() as session:
            if session.get_one(models.Job, self.job_id).cancel_wanted:
                raise Cancelled

    def rest(self, seconds: float) -> None:
        """Wait, but not longer than the job is wanted."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.wanted()
            time.sleep(min(TICK_S, left))

    def tell(self, reason: Text | None) -> None:
        """Say on the running job what holds it up; None when it goes on."""
        with writing() as session:
            job = session.get_one(models.Job, self.job_id)
            if job.state == JobState.RUNNING:
                job.reason = None if reason is None else to_json(reason)

    # -- one step --------------------------------------------------------------------------------------------

    def _step(self, number: int) -> None:
        row = self.row(number)
        if row.state in FINISHED_STEPS:
            return
        self.wanted()
        step = Step.from_json(json.loads(row.body))
        try:
            if row.state == StepState.WAITING:
                if self._verified(step):
                    self.mark(number, StepState.SATISFIED, started=time.time(), ended=time.time())
                    return
                self.mark(number, StepState.RUNNING, started=time.time(), ended=None, attempt=row.attempt + 1)
            self._act(number, step)
            if step.verify and not self._verified(step):
                raise StepFailed(say("The step ran to its end, but what it should have brought about is not there."))
            self.mark(number, StepState.OK, ended=time.time(), code=0 if step.script else None)
        except Cancelled as wish:
            self.mark(number, StepState.CANCELLED, ended=time.time(), reason=wish.reason)
            raise
        except StepFailed as failure:
            self.mark(number, StepState.FAILED, ended=time.time(), code=failure.code, reason=failure.reason)
            raise
        except (LetGo, DataError):
            raise
        except ConsoleError as error:
            self.mark(number, StepState.FAILED, ended=time.time(), reason=error.text)
            raise StepFailed(error.text) from error
        except Exception as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise LetGo from error  # the log could not be copied; the step itself goes on
            step_log(self.job_id, number, self.row(number).attempt).line(traceback.format_exc())
            self.mark(number, StepState.FAILED, ended=time.time(), reason=_internal(error))
            raise StepFailed(_internal(error)) from error

    def row(self, number: int) -> models.Step:
        with reading() as session:
            return next(step for step in session.get_one(models.Job, self.job_id).steps if step.number == number)

    def mark(self, number: int, state: StepState, reason: Text | None = None, **also: object) -> None:
        with writing() as session:
            job = session.get_one(models.Job, self.job_id)
            row = next(step for step in job.steps if step.number == number)
            if state == StepState.RUNNING:
                job.answer = None  # a yes to the question of another step is none to this one's
            for column, value in also.items():
                setattr(row, column, value)
            row.state, row.reason = state, None if reason is None else to_json(reason)

    def _verified(self, step: Step) -> bool:
        if not step.verify:
            return False
        return ride(self, lambda: self.runner.run(step.verify, timeout_s=VERIFY_TIMEOUT_S), step.timeout_s).code == 0

    def _act(self, number: int, step: Step) -> None:
        """Bring the step about, or adopt what a former worker started."""
        if step.action:
            log = step_log(self.job_id, number, self.row(number).attempt)
            ride(self, lambda: ACTIONS[step.action](self, step, log), step.timeout_s)
        else:
            run_script(self, number, step)


def _internal(error: Exception) -> Text:
    return say(
        "The console itself failed here ({kind}: {error}). The log of the step has the details; resume the job to try "
        "again, and please report it.",
        kind=type(error).__name__,
        error=str(error),
    )
