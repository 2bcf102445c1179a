"""One script step on its host: start it detached or adopt it, copy its log, put its question to a person."""

import json
import shlex
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from console.errors import Conflict
from console.hosts.process import Detached, Life
from console.hosts.sudo import prelude
from console.jobs.as_root import hand_over
from console.jobs.asking import ask
from console.jobs.ends import Cancelled, StepFailed
from console.jobs.logs import Log, step_log
from console.jobs.ride import SILENCE, ride
from console.plans.step import ASK_EXIT_CODE, Step
from console.records import reading
from console.text import Text, say, verbatim
from db import models

if TYPE_CHECKING:
    from console.jobs.carry import Carry

TICK_S = 0.3
MOST_QUESTIONS = 3

T = TypeVar("T")


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
        ask(carry, _question(carry, detached), again=number)
    raise StepFailed(say("The step asked again after {times} answers.", times=MOST_QUESTIONS), ASK_EXIT_CODE)


def _started(carry: "Carry", number: int, step: Step, attempt: int) -> Detached:
    with reading() as session:
        words = session.get_one(models.Job, carry.job_id).answer
    answered = "" if words is None else f"PILOT_ANSWER={shlex.quote(words)}\nexport PILOT_ANSWER\n"

    def of(which: int) -> Detached:
        return Detached(carry.runner, f"{carry.work_folder}/jobs/{carry.job_id}/{number:02d}-{step.name}.{which}")

    def start() -> None:
        if of(attempt).look().life != Life.ABSENT:
            return
        if attempt > 1:
            of(attempt - 1).stop()  # it may have outlived a connection that was gone when it should have been ended
        with suppress(Conflict):  # the start before this one arrived after all
            of(attempt).start(prelude(carry.host.reach) + answered + step.script)

    _riding(carry, step, start)
    return of(attempt)


def _followed(carry: "Carry", number: int, step: Step, detached: Detached, log: Log) -> int:
    """The exit code, once the command has ended and its whole log is here."""
    begun = carry.row(number).started or time.time()
    while True:
        try:
            look = _riding(carry, step, lambda: detached.look(log.size))
        except Cancelled:
            _ended(carry, detached)
            raise
        log.take(look.log, ended=look.life != Life.RUNNING)
        if look.life != Life.RUNNING and log.size >= look.log_size:
            if look.code is None:
                raise StepFailed(say("The command ended without an exit code: it was killed, or the host restarted."))
            return look.code
        _heed(carry, detached)
        if look.asks is not None:
            begun += _with_password(carry, detached, look.asks)
        if time.time() - begun > step.timeout_s:
            _riding(carry, step, detached.stop)
            raise StepFailed(
                say("The step took longer than its limit of {limit} s and was ended.", limit=round(step.timeout_s))
            )
        time.sleep(TICK_S)


def _riding(carry: "Carry", step: Step, act: Callable[[], T]) -> T:
    return ride(carry, act, step.timeout_s, on=SILENCE)


def _heed(carry: "Carry", detached: Detached) -> None:
    try:
        carry.wanted()
    except Cancelled:
        _ended(carry, detached)
        raise


def _with_password(carry: "Carry", detached: Detached, pid: str) -> float:
    """Give the sudo that asks its password; the seconds a person took for it, which the step is not charged."""
    try:
        return hand_over(carry, detached, pid)
    except Cancelled:
        _ended(carry, detached)
        raise


def _ended(carry: "Carry", detached: Detached) -> None:
    """End what runs there for a person who does not want to wait for a host that is away."""
    try:
        detached.stop()
    except SILENCE as error:
        raise Cancelled(
            say(
                "What this step started could not be ended, because {host} does not answer: it may still run there. "
                "Resuming the job ends it first.",
                host=carry.host.title,
            )
        ) from error


def _question(carry: "Carry", detached: Detached) -> Text:
    """What the script wrote to its file `ask`: {"sentence": ..., "values": {...}}."""
    ask = f"head -c 10000 {shlex.quote(detached.folder)}/ask"
    outcome = ride(carry, lambda: carry.runner.run(ask), 0)
    try:
        asked = json.loads(outcome.out)
        return Text(str(asked["sentence"]), dict(asked.get("values", {})))
    except (ValueError, KeyError, TypeError):
        return verbatim(outcome.out.strip() or outcome.err.strip())
