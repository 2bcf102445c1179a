"""What `pilot jobs` does: list and show jobs, and decide about them as their page does."""

import argparse
import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from console.errors import ConsoleError, InvalidInput, NotFound
from console.settings import actor
from console.spans import lasting
from console.terminal import FAILED, OK, WRONG_INPUT, t, words
from console.terminal_table import draw, piped_width, table_of
from console.text import say

if TYPE_CHECKING:
    from console.jobs.history import JobView, StepView

Verb = Callable[..., argparse.ArgumentParser]
TICK_S = 0.5


def register(found: Any, verb: Verb, as_json: Callable[[argparse.ArgumentParser], None]) -> None:
    """Put `pilot jobs` and its own verbs into the command line."""
    about = t("Jobs: list, show, wait, answer, cancel, resume, do a step again, skip one.")
    own = found.add_parser("jobs", help=about, description=about)
    verbs = own.add_subparsers(title=t("verbs"), metavar=t("VERB"), required=True)
    listed_ = verb(verbs, "list", listed, t("The latest jobs first."))
    listed_.add_argument("--host", default="", metavar=t("HOST"), help=t("only of this host"))
    listed_.add_argument("--active", action="store_true", help=t("only those that are queued, running or waiting"))
    listed_.add_argument("--limit", type=_count, default=20, help=t("at most so many, the latest first (default 20)"))
    show_ = verb(verbs, "show", show, t("One job with its steps and what it asks."))
    wait_ = verb(verbs, "wait", wait, t("Wait until a job ends or asks; 0 it succeeded, 1 it did not or it asks."))
    answer_ = verb(verbs, "answer", answer, t("Answer what a job asks; it goes on with that."))
    cancel_ = verb(verbs, "cancel", cancel, t("End a job; the step that runs is ended too."))
    resume_ = verb(verbs, "resume", resume, t("Let a stopped job go on; finished steps are kept."))
    retry_ = verb(verbs, "retry", retry, t("Let a stopped job go on with this step done again, whatever became of it."))
    skip_ = verb(verbs, "skip", skip, t("Leave a step of a stopped job out, with a reason; then resume the job."))
    for one in (show_, wait_, answer_, cancel_, resume_, retry_, skip_):
        one.add_argument("job", type=_number, metavar=t("JOB"), help=t("number of the job"))
    for one in (retry_, skip_):
        one.add_argument("step", metavar=t("STEP"), help=t("number of the step, or its short name"))
    part = show_.add_mutually_exclusive_group()
    part.add_argument("--log", default="", metavar=t("STEP"), help=t("print what this step has printed, its end"))
    part.add_argument("--script", default="", metavar=t("STEP"), help=t("print what this step runs"))
    answer_.add_argument("answer", choices=("yes", "no"), help=t("yes goes on, no does not"))
    skip_.add_argument("--reason", default="", help=t("why it can be left out; reports show it"))
    for one in (listed_, show_, wait_, answer_, cancel_, resume_, retry_, skip_):
        as_json(one)


def listed(chosen: argparse.Namespace) -> int:
    """0 whatever became of them."""
    from console.hosts import inventory
    from console.jobs import history
    from console.jobs.jobs import say_state

    try:
        host_id = inventory.named(chosen.host).id if chosen.host else None
    except NotFound as error:
        return _wrong(error)
    found = history.jobs(chosen.limit, host_id=host_id, active_only=chosen.active)
    if chosen.json:
        print(json.dumps({"jobs": [_plain(one) for one in found]}, ensure_ascii=False, indent=2))
        return OK
    if not found:
        print(t("There is no such job."))
        return OK
    table = table_of("#", t("job"), t("state"), t("steps"), t("who"), t("asked (UTC)"), t("took"))
    for one in found:
        when = datetime.fromtimestamp(one.created, UTC).strftime("%Y-%m-%d %H:%M:%S")
        steps, took = f"{one.done}/{len(one.steps)}", words(lasting(one.elapsed))
        table.add_row(str(one.id), words(one.title), words(say_state(one.state)), steps, one.actor, when, took)
    draw(table, width=piped_width())
    return OK


def show(chosen: argparse.Namespace) -> int:
    """0 whatever became of it; 2 when there is no such job or step."""
    from console.jobs import history

    try:
        job = history.job(chosen.job)
        if chosen.log:
            print(_step(job, chosen.log).log(), end="")
        elif chosen.script:
            print(_step(job, chosen.script).step.script, end="")
        else:
            _tell(job, as_json=chosen.json)
    except NotFound as error:
        return _wrong(error)
    return OK


def wait(chosen: argparse.Namespace) -> int:
    """0 it succeeded, 1 it failed, was cancelled, or waits for an answer. Interrupting this leaves it at work."""
    from console.jobs import history
    from console.jobs.states import JobState
    from console.jobs.supervise import ensure_worker

    try:
        job = history.job(chosen.job)
    except NotFound as error:
        return _wrong(error)
    if job.active:
        ensure_worker()
    while job.active and (job.state != JobState.WAITING or job.cancel_wanted or job.answered):
        time.sleep(TICK_S)
        job = history.job(job.id)
    _tell(job, as_json=chosen.json)
    return OK if job.state == JobState.SUCCEEDED else FAILED


def answer(chosen: argparse.Namespace) -> int:
    """1 when it asks nothing now."""
    from console.jobs import jobs

    said = t("Answered. Follow it with: pilot jobs wait {job}", job=chosen.job)
    return _decide(chosen, said, lambda job: jobs.answer(job.id, _told(job, chosen.answer), actor=actor()))


def cancel(chosen: argparse.Namespace) -> int:
    """0 also for a job that has ended already."""
    from console.jobs import jobs

    return _decide(chosen, "", lambda job: jobs.cancel(job.id, actor=actor()))


def resume(chosen: argparse.Namespace) -> int:
    """1 when it has not stopped, or another job works on the same thing."""
    from console.jobs import jobs

    said = t("It goes on. Follow it with: pilot jobs wait {job}", job=chosen.job)
    return _decide(chosen, said, lambda job: jobs.resume(job.id, actor=actor()))


def retry(chosen: argparse.Namespace) -> int:
    """The same, with one step done again."""
    from console.jobs import jobs

    said = t("It goes on. Follow it with: pilot jobs wait {job}", job=chosen.job)
    return _decide(chosen, said, lambda job: jobs.retry(job.id, _step(job, chosen.step).number, actor=actor()))


def skip(chosen: argparse.Namespace) -> int:
    """2 without a reason; 1 when the job has not stopped or the step is done."""
    from console.jobs import jobs

    said = t("The step is left out. Let the job go on with: pilot jobs resume {job}", job=chosen.job)
    return _decide(
        chosen, said, lambda job: jobs.skip(job.id, _step(job, chosen.step).number, chosen.reason, actor=actor())
    )


def _decide(chosen: argparse.Namespace, said: str, decision: "Callable[[JobView], None]") -> int:
    """Do it, see that a worker lives, which carries it out, and tell how the job is now."""
    from console.jobs import history
    from console.jobs.supervise import ensure_worker

    try:
        decision(history.job(chosen.job))
    except (InvalidInput, NotFound) as error:
        return _wrong(error)
    job = history.job(chosen.job)
    if job.active:
        ensure_worker()
    if chosen.json:
        _tell(job, as_json=True)
        return OK
    _head(job)
    print(t("It is being cancelled.") if job.cancel_wanted and job.active else said)
    return OK


def _told(job: "JobView", said: str) -> str:
    """The answer as the job wants it: a password goes to the worker by another way, which must have been gone."""
    from console.hosts import inventory, secrets
    from console.jobs import as_root

    host = inventory.host(job.host_id)
    if said == "no" or not as_root.is_asked(job.question, host):
        return said
    if host.id not in secrets.known():
        raise InvalidInput(
            say(
                "This job waits for the password of sudo. Give it to the worker with “pilot hosts sudo {host}”, then "
                "answer yes.",
                host=host.name,
            )
        )
    return as_root.GIVEN


def _step(job: "JobView", named: str) -> "StepView":
    for one in job.steps:
        if named in (str(one.number), one.step.name):
            return one
    names = ", ".join(f"{one.number} {one.step.name}" for one in job.steps)
    raise NotFound(say("Job {job} has no step {step}. Its steps: {names}", job=job.id, step=named, names=names))


def _tell(job: "JobView", *, as_json: bool) -> None:
    from console.jobs.jobs import say_state

    if as_json:
        steps = [_plain_step(one) for one in job.steps]
        print(json.dumps(_plain(job) | {"steps": steps}, ensure_ascii=False, indent=2))
        return
    _head(job)
    if job.cancel_wanted and job.active:
        print(t("It is being cancelled."))
    elif job.question is not None and not job.answered:
        print(words(job.question))
        print(t("Answer with: pilot jobs answer {job} yes (or no)", job=job.id))
    elif job.reason is not None:
        print(words(job.reason))
    table = table_of("#", t("step"), t("name"), t("state"), t("took"), t("why"))
    for one in job.steps:
        why, took = words(one.reason), words(lasting(one.told_s if one.elapsed is None else one.elapsed))
        table.add_row(str(one.number), words(one.step.title), one.step.name, words(say_state(one.state)), took, why)
    draw(table, width=piped_width())


def _head(job: "JobView") -> None:
    from console.jobs.jobs import say_state

    about = t("{done} of {all} steps", done=job.done, all=len(job.steps))
    print(f"#{job.id} {words(job.title)}: {words(say_state(job.state))} · {about} · {words(lasting(job.elapsed))}")


def _plain(job: "JobView") -> dict[str, object]:
    return {
        "job": job.id,
        "kind": job.kind,
        "subject": job.subject,
        "host": job.host_id,
        "title": str(job.title),
        "state": str(job.state),
        "attempt": job.attempt,
        "who": job.actor,
        "created": job.created,
        "started": job.started,
        "ended": job.ended,
        "reason": None if job.reason is None else str(job.reason),
        "question": None if job.question is None else str(job.question),
        "cancel_wanted": job.cancel_wanted,
        "steps_done": job.done,
        "steps_all": len(job.steps),
    }


def _plain_step(one: "StepView") -> dict[str, object]:
    return {
        "number": one.number,
        "step": one.step.name,
        "title": str(one.step.title),
        "state": str(one.state),
        "attempt": one.attempt,
        "seconds": one.told_s if one.elapsed is None else one.elapsed,
        "exit_code": one.code,
        "reason": None if one.reason is None else str(one.reason),
    }


def _wrong(error: ConsoleError) -> int:
    print(f"pilot: {words(error.text)}", file=sys.stderr)
    return WRONG_INPUT


def _number(typed: str) -> int:
    plain = typed.removeprefix("#")
    if plain.isdecimal() and len(plain) < 12:
        return int(plain)
    raise argparse.ArgumentTypeError(t("{words} is not the number of a job; “pilot jobs list” shows them", words=typed))


def _count(typed: str) -> int:
    if typed.isdecimal() and 1 <= int(typed) <= 10_000:
        return int(typed)
    raise argparse.ArgumentTypeError(t("{words} is not a number from 1 to 10000", words=typed))
