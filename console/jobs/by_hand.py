"""Plans a person carries out without the console: exported ones are kept, what is pasted back becomes a job."""

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.orm import Session

from console.errors import Conflict, ConsoleError, InvalidInput, NotFound, unreadable
from console.hosts import inventory
from console.hosts.inventory import Host
from console.jobs import history
from console.jobs.installing import Looked, dry_run
from console.jobs.jobs import active_job, enqueue_in
from console.jobs.logs import step_log
from console.jobs.states import FINISHED_STEPS, JobState, StepState
from console.plans.results import Result, problem, results
from console.plans.runbook import runbook, token
from console.plans.step import Step
from console.records import move, note, writing
from console.settings import settings
from console.text import Text, from_json, say, to_json
from db import models

FOLDER = "runbooks"
"""Below the data folder: the plans that were exported."""
BY_HAND = "done by hand"
"""The event of a job whose steps a person carried out, or of the results that were added to it."""
MOST_NAME_S = 20.0


@dataclass(frozen=True)
class Exported:
    """A plan as it was exported for one host."""

    token: str
    host_id: int
    kind: str
    title: Text
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Line:
    """What is known of one step after a paste. `looked`: what its check says now; None if it was not asked."""

    number: int
    step: Step
    result: Result | None
    looked: Looked | None = None

    @property
    def state(self) -> StepState:
        """The check on the host counts more than what was told; what nobody told and nobody sees is not run."""
        seen = None if self.looked is None else self.looked.state
        told = "" if self.result is None else self.result.state
        if self.step.verify and seen == "satisfied":
            return StepState.OK if told == "ok" else StepState.SATISFIED
        if told in ("ok", "satisfied"):
            missing = bool(self.step.verify) and seen == "waiting"
            return StepState.FAILED if missing else StepState(told)
        return StepState.FAILED if told == "failed" else StepState.WAITING

    @property
    def words(self) -> Text:
        """Where the state comes from."""
        one, looked = self.result, self.looked
        if one is None:
            seen = looked is not None and looked.state == "satisfied" and bool(self.step.verify)
            return say("Nobody told of it, but its check succeeds.") if seen else say("Not run, as far as was told.")
        if one.state == "asks":
            return say("It asked, and nobody answered. Run the script again with PILOT_ANSWER=yes.")
        if one.state == "restarts":
            return say("It restarted {machine}. Run the script again there for the rest.", machine=one.machine)
        if one.state != "failed" and self.state == StepState.FAILED and looked is not None:
            return say("Told as done on {machine}, but its check does not find it: {said}", machine=one.machine,
                       said=looked.words)  # fmt: skip
        if one.state == "failed":
            return say("Failed on {machine} with exit code {code} after {seconds} s.", machine=one.machine,
                       code=one.code, seconds=one.seconds)  # fmt: skip
        done = say("Done by hand on {machine} in {seconds} s.", machine=one.machine, seconds=one.seconds)
        if one.state == "satisfied":
            done = say("It was done already on {machine} when the script came to it.", machine=one.machine)
        if looked is not None and looked.state == "unknown":
            return say("{done} Its check could not be asked: {why}", done=done, why=looked.words)
        return done


def export(host: Host, kind: str, title: Text, steps: Sequence[Step], language: str = "en") -> str:
    """The runbook of a plan in this language; the plan is kept so that its results are understood whatever changes."""
    name = token(host.name, steps)
    plan = {"host": host.id, "kind": kind, "title": to_json(title), "steps": [one.to_json() for one in steps]}
    file = _file(name)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{secrets.token_hex(4)}.part")  # two pages may show the plan at once
        part.write_text(json.dumps(plan, ensure_ascii=False), "utf-8")
        part.replace(file)
    return runbook(steps, host.name, language)


def _file(name: str) -> Path:
    return settings().data / FOLDER / f"{name}.json"


def exported(name: str) -> Exported:
    """The plan with this token. NotFound when this console exported none such."""
    try:
        plan = json.loads(_file(name).read_text("utf-8"))
        steps = tuple(map(Step.from_json, plan["steps"]))
        return Exported(name, plan["host"], plan["kind"], from_json(plan["title"]), steps)
    except FileNotFoundError as error:
        raise NotFound(
            say(
                "These results are of a runbook {token} that this console did not write. Bring them to the console "
                "it came from.",
                token=name,
            )
        ) from error
    except OSError as error:
        raise unreadable(_file(name), error) from error


def read(host: Host, pasted: str) -> tuple[Exported, list[Result]]:
    """What a paste says, once it is known to be whole, of a plan of ours, and of this host."""
    found = results(pasted)
    plan = exported(found[0].token)
    if plan.host_id != host.id:
        raise InvalidInput(
            say("These are the results of a runbook for {other}, not for {host}. Choose that host, then paste them "
                "there.", other=_name(plan.host_id, found[0]), host=host.title)
        )  # fmt: skip
    if (wrong := problem(found, plan.token, [one.name for one in plan.steps])) is not None:
        raise InvalidInput(wrong)
    machines = {one.machine for one in found}
    if len(machines) > 1:
        raise InvalidInput(
            say("These results come from different machines: {machines}. Bring those of one.",
                machines=", ".join(sorted(machines)))
        )  # fmt: skip
    return plan, found


def _name(host_id: int, one: Result) -> Text | str:
    try:
        return inventory.host(host_id).title
    except NotFound:
        return one.host


def lines(host: Host, pasted: str, *, check: bool) -> tuple[Exported, list[Line]]:
    """Every step of the plan with what was told of it and, with `check`, what its check on the host says now."""
    plan, found = read(host, pasted)
    told = {one.number: one for one in found}
    looked: Sequence[Looked | None] = [None] * len(plan.steps)
    if check:
        _same_machine(host, found[0].machine)
        looked = dry_run(host, plan.steps)
    rows = zip(plan.steps, looked, strict=True)
    return plan, [Line(number, step, told.get(number), seen) for number, (step, seen) in enumerate(rows, 1)]


def _same_machine(host: Host, machine: str) -> None:
    """InvalidInput when the host calls itself otherwise; a host that cannot be asked is no contradiction."""
    try:
        seen = inventory.runner(host).run("uname -n", timeout_s=MOST_NAME_S).out.strip()
    except ConsoleError:
        return
    if seen != machine:
        raise InvalidInput(
            say("The script was run on {machine}, but {host} calls itself {seen}. Nothing was recorded. Run it on "
                "{host}, or choose the host it was run on.", machine=machine, host=host.title, seen=seen)
        )  # fmt: skip


def record(host: Host, pasted: str, *, actor: str, check: bool = True) -> int:
    """Read a paste and write it down: the number of the job. Nothing is recorded of a text with any trouble."""
    return write_down(host, *lines(host, pasted, check=check), actor=actor)


def write_down(host: Host, plan: Exported, rows: Sequence[Line], *, actor: str) -> int:
    """The job these results were written to: that of an earlier paste of the same runbook, else a new one.

    Where only steps of the console itself are left the job is queued for them; else it stands as failed or cancelled
    and can be resumed over SSH. Conflict while another job works on the host.
    """
    with writing() as session:
        subject = f"host:{host.id}"
        if (active := active_job(session, subject)) is not None:
            raise Conflict(
                say("Job #{job} of {who} works on {host} now. Bring the results again once it has ended.",
                    job=active.id, who=active.actor, host=host.title)
            )  # fmt: skip
        job = _former(session, plan) or _new(session, plan, subject, actor)
        _write(job, rows)
        _end(session, job, actor)
        note(session, f"job:{job.id}", BY_HAND, actor=actor, reason=_summary(rows))
        return job.id


def _former(session: Session, plan: Exported) -> models.Job | None:
    """The job an earlier paste of this runbook made; it notes the token in its history."""
    made = f"runbook:{plan.token}"
    event = session.query(models.Event).filter_by(subject=made).order_by(models.Event.id.desc()).first()
    return None if event is None else session.get(models.Job, int(event.became))


def _new(session: Session, plan: Exported, subject: str, actor: str) -> models.Job:
    title = Text(history.BY_HAND.sentence, {"title": plan.title})
    number = enqueue_in(session, plan.kind, subject, plan.host_id, title, plan.steps, actor=actor)
    note(session, f"runbook:{plan.token}", str(number), actor=actor)
    job = session.get_one(models.Job, number)
    move(session, job, f"job:{number}", JobState.RUNNING, actor=actor, started=time.time())
    return job


def _write(job: models.Job, rows: Sequence[Line]) -> None:
    """Set each step by what is known of it; what was finished before stays so unless it is told as failed now."""
    for row, one in zip(job.steps, rows, strict=True):
        if row.state in FINISHED_STEPS and one.state in (StepState.WAITING, StepState.SATISFIED):
            continue
        row.state = one.state
        row.reason = to_json(one.words)
        if one.result is None:
            continue
        row.code = one.result.code if one.state in (StepState.OK, StepState.FAILED) else None
        if one.result.log:
            row.attempt += 1
            step_log(job.id, row.number, row.attempt).take(one.result.log.encode(), ended=True)


def _end(session: Session, job: models.Job, actor: str) -> None:
    """What the job has come to: failed, not finished, left to the console, or done."""
    session.flush()
    open_steps = [row for row in job.steps if row.state not in FINISHED_STEPS]
    failed = next((row for row in open_steps if row.state == StepState.FAILED), None)
    ours = all(_is_ours(row) for row in open_steps)
    now: Mapping[str, object] = {"ended": time.time()}
    if failed is not None:
        why = None if failed.reason is None else from_json(failed.reason)
        became, why = JobState.FAILED, say("Step {number} failed. {why}", number=failed.number, why=why or "")
    elif open_steps and not ours:
        became, why = JobState.CANCELLED, say("{count} steps are not done yet.", count=len(open_steps))
    elif open_steps:
        became, why, now = JobState.QUEUED, None, {"ended": None, "attempt": job.attempt + 1}
    else:
        became, why = JobState.SUCCEEDED, None
    if not job.state == became == JobState.SUCCEEDED:
        move(session, job, f"job:{job.id}", became, actor=actor, reason=why, **now)


def _is_ours(row: models.Step) -> bool:
    return not json.loads(row.body)["script"]


def _summary(rows: Sequence[Line]) -> Text:
    count = {state: sum(one.state == state for one in rows) for state in StepState}
    return say(
        "{done} done, {failed} failed, {open} not run.",
        done=count[StepState.OK] + count[StepState.SATISFIED],
        failed=count[StepState.FAILED],
        open=count[StepState.WAITING],
    )


def described(one: Line) -> dict[str, object]:
    """For JSON."""
    told = None if one.result is None else one.result.state
    seen = None if one.looked is None else one.looked.state
    return {"step": one.step.name, "state": str(one.state), "told": told, "check": seen, "words": str(one.words)}
