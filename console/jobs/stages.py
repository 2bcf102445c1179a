"""The pilot path of a host as a person sees it: Host, Check, Install, Serve, Try, Measure, each with its true state.

A stage is green only through an observation younger than LIMITS says, never because a job once ended well.
"""

import time
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from console.bench import runs
from console.checks import WAIVED, Level
from console.hosts import installed, inventory, observe
from console.hosts.observe import Checked, Runtime, Seen
from console.jobs import history
from console.jobs.history import JobView
from console.jobs.jobs import say_state
from console.jobs.states import JobState
from console.jobs.ways import Way, way_of
from console.serving import instances
from console.serving.conversations import last_answer
from console.serving.state import State
from console.text import Text, say

LIMITS = {"host": 60.0, "check": 86_400.0, "install": 3_600.0, "serve": 15.0, "try": 86_400.0, "measure": 86_400.0}
"""Seconds for which an observation stands for the present."""


class StageState(StrEnum):
    TODO = "todo"  # nothing happened yet
    RUNNING = "running"
    WAITING = "waiting"  # a job waits for a person
    OK = "ok"
    STALE = "stale"  # it was so when it was last looked at, too long ago
    WARN = "warn"
    FAILED = "failed"


@dataclass(frozen=True)
class Stage:
    """One stage. `seen` is the Unix time of what the state rests on; `elapsed_s` how long its job took or takes."""

    name: str
    state: StageState
    words: Text
    seen: float | None = None
    elapsed_s: float | None = None
    job_id: int | None = None


@dataclass(frozen=True)
class Looked:
    """What a look at the pilot of a host rests on, read once: what it said last, its way, its checks, its runtime."""

    asked: Seen | None
    way: Way
    checked: Checked | None
    runtime: Runtime | None


def look(host: inventory.Host) -> Looked:
    """As things are stored now."""
    asked = observe.latest(host)
    way = way_of(host, asked)
    checked = None if asked is None else observe.judged_of(host, asked, way.profile)
    return Looked(asked, way, checked, installed.runtime(host, way.backend))


def stages(host: inventory.Host, at: Looked | None = None) -> list[Stage]:
    """All six, in the order of the path; `at` is a look that was just taken."""
    at = at or look(host)
    seen = [_host(host, at), _check(at.checked), _install(at.runtime), _serve(host), _try(host), _measure(host)]
    return [
        _with_job(stage, history.latest(JOB_OF[stage.name], host.id) if stage.name in JOB_OF else None)
        for stage in seen
    ]


JOB_OF = {"check": "check", "install": "install", "serve": "start", "try": "try", "measure": "measure"}


def _with_job(stage: Stage, job: JobView | None) -> Stage:
    """A job in progress, or one that stopped after what was seen, says more than the last observation."""
    if job is None:
        return stage
    state, words = stage.state, stage.words
    if job.state == JobState.WAITING:
        state, words = StageState.WAITING, job.question or say("waits for an answer")
    elif job.active:
        current = job.current
        state = StageState.RUNNING
        words = say("queued") if job.state == JobState.QUEUED or current is None else current.step.title
        words = job.reason or words  # what holds it up
    elif job.state == JobState.FAILED and (stage.seen is None or (job.ended or 0) > stage.seen):
        current = job.current
        state = StageState.FAILED
        words = (current.reason if current else None) or job.reason or say("failed")
    elif job.state == JobState.CANCELLED and stage.seen is None:
        words = say("cancelled before it was done")
    return Stage(stage.name, state, words, stage.seen, job.elapsed, job.id)


def _fresh(name: str, seen: float) -> StageState:
    return StageState.OK if time.time() - seen <= LIMITS[name] else StageState.STALE


def _host(host: inventory.Host, at: Looked) -> Stage:
    """This machine is reached by being looked at from itself; another one was reached when it last answered.

    A server there that is watched answers every second, and so does its host.
    """
    if host.reach is None:
        return Stage("host", StageState.OK, host.title, seen=time.time())
    moments = [one.time for one in (at.asked, at.runtime) if one is not None]
    watched = [one for one in instances.instances() if one.host_id == host.id and one.state not in instances.RESTING]
    moments += [one.observed for one in watched if one.observed is not None]
    if not moments:
        return Stage("host", StageState.TODO, say("not asked yet"))
    return Stage("host", _fresh("host", max(moments)), host.title, max(moments))


def _check(checked: Checked | None) -> Stage:
    if checked is None:
        return Stage("check", StageState.TODO, say("not checked yet"))
    count = Counter(one.standing for one in checked.judged)
    words = say(
        "pass {passed} · warning {warnings} · fail {failed}",
        passed=count[Level.PASS],
        warnings=count[Level.WARN] + count[Level.UNKNOWN],
        failed=count[Level.FAIL],
    )
    if count[WAIVED]:
        words = say("{counts} · waived {waived}", counts=words, waived=count[WAIVED])
    state = _fresh("check", checked.time)
    if count[Level.FAIL]:
        state = StageState.FAILED
    return Stage("check", state, words, checked.time)


def _install(found: Runtime | None) -> Stage:
    if found is None or not found.complete:
        return Stage("install", StageState.TODO, say("vLLM is not installed") if found is None else found.words)
    return Stage("install", _fresh("install", found.time), found.words, found.time)


def _serve(host: inventory.Host) -> Stage:
    mine = [one for one in instances.instances() if one.host_id == host.id]
    if not mine:
        return Stage("serve", StageState.TODO, say("no instance yet"))
    best = min(mine, key=lambda one: (ORDER.index(one.state), one.noise))
    words = say("{name} on port {port}", name=best.name, port=str(best.spec.port))
    state = {
        State.ready: StageState.OK,
        State.starting: StageState.RUNNING,
        State.stopping: StageState.RUNNING,
        State.unwell: StageState.WARN,
        State.lost: StageState.WARN,
        State.failed: StageState.FAILED,
        State.stopped: StageState.TODO,
    }[best.state]
    if best.state not in (State.ready, State.starting):
        words = say("{name}: {why}", name=best.name, why=best.reason or say_state(best.state))
    return Stage("serve", state, words, best.observed if state != StageState.TODO else None)


ORDER = (State.ready, State.starting, State.unwell, State.failed, State.lost, State.stopping, State.stopped)


def _try(host: inventory.Host) -> Stage:
    found = last_answer(host.id)
    if found is None:
        return Stage("try", StageState.TODO, say("no question asked yet"))
    return Stage("try", _fresh("try", found.created), say("“{answer}”", answer=_short(found.text)), found.created)


def _measure(host: inventory.Host) -> Stage:
    run = runs.latest(host.id)
    if run is None:
        return Stage("measure", StageState.TODO, say("not measured yet"))
    words = say(
        "TTFT p50 {ttft} ms, {rate} tokens/s with {n} at a time",
        ttft=round(run.ttft_p50_s * 1000),
        rate=round(run.tokens_per_s, 1),
        n=run.concurrency,
    )
    return Stage("measure", _fresh("measure", run.ended), words, run.ended)


def _short(answer: str, most: int = 80) -> str:
    answer = " ".join(answer.split())
    return answer if len(answer) <= most else answer[: most - 1] + "…"
