"""In which state an instance is: one function of what was wished, what its process does and how it last answered.

    (no start yet)                   --person or worker: start-->       starting
    starting  --observer: warm-up and sanity question answered-->       ready
    starting  --observer: the sanity answer makes no sense-->           unwell
    starting  --observer: another program answers at its port-->        starting, and says who
    ready     --observer: another program shares its port-->            unwell
    ready     --observer: no answer for 10 s, or requests stand still-->  unwell
    unwell    --observer: answers again, was sane in this attempt-->    ready
    starting, ready, unwell   --the process: exits by itself-->         failed
    starting, ready, unwell   --the process: gone without exit code-->  lost
    any but stopped           --the host: cannot be reached-->          lost
    starting, ready, unwell   --person: stop-->                         stopping
    stopping, failed, lost    --process gone, wish is down-->           stopped
    failed, lost, stopped     --person: start (a new attempt)-->        starting

Nothing is stored but the three inputs; the state is computed when it is wanted. A sanity answer holds for the attempt
that gave it: the weights and kernels do not change under a running process. That it answers at all must be fresh.
"""

from dataclasses import dataclass
from enum import StrEnum

from console.text import Text, say

FRESH_S = 10.0
"""Seconds: a server whose health and metrics both answered within this time is alive."""


class State(StrEnum):
    starting = "starting"
    ready = "ready"
    unwell = "unwell"
    failed = "failed"
    lost = "lost"
    stopping = "stopping"
    stopped = "stopped"


class Wish(StrEnum):
    up = "up"
    down = "down"


class ProcessPhase(StrEnum):
    never = "never started"
    running = "running"
    exited = "exited"
    gone = "gone without a code"
    unreachable = "host unreachable"


@dataclass(frozen=True)
class Process:
    """The engine's process of one attempt (counted from 1). code = exit code when it exited."""

    phase: ProcessPhase
    attempt: int = 0
    code: int | None = None


class HealthPhase(StrEnum):
    none = "no answer yet"
    http_ok = "health answers"
    warmed = "a first request was answered"
    sane = "the sanity question was answered well"
    insane = "the sanity question was answered badly"
    silent = "answered before, does not now"


@dataclass(frozen=True)
class Health:
    """How far an attempt has come.

    age_s     seconds since health and metrics both answered
    answer    what it said to the sanity question
    stuck_s   seconds that its requests have not moved although it answers; 0 = they move, or there are none
    foreign   who else listens at its port, as a sentence; None = nobody, or nothing answers there
    """

    phase: HealthPhase = HealthPhase.none
    attempt: int = 0
    age_s: float = 0.0
    answer: str = ""
    stuck_s: float = 0.0
    foreign: Text | None = None


@dataclass(frozen=True)
class Judgement:
    """A state and the sentence that says why."""

    state: State
    reason: Text


def decide(wish: Wish, process: Process, health: Health) -> Judgement:
    """The state of an instance. Never ready without a sane answer of this attempt, never failed while it runs."""
    if process.phase is ProcessPhase.unreachable:
        return Judgement(State.lost, say("The host cannot be reached, so nobody knows how this instance is."))
    if wish is Wish.down:
        return _going_down(process)
    match process.phase:
        case ProcessPhase.never:
            return Judgement(State.starting, say("The start is prepared; its process does not run yet."))
        case ProcessPhase.exited:
            return Judgement(State.failed, _exit_reason(process.code))
        case ProcessPhase.gone:
            why = say(
                "The process is gone and left no exit code: it was killed, or the host restarted. Start it again."
            )
            return Judgement(State.lost, why)
    return _running(health if health.attempt == process.attempt else Health())


def _going_down(process: Process) -> Judgement:
    if process.phase is ProcessPhase.running:
        return Judgement(State.stopping, say("It was told to stop and still runs."))
    return Judgement(State.stopped, say("It was stopped."))


def _exit_reason(code: int | None) -> Text:
    if code == 0:
        return say("The server ended by itself without an error, though it should be running. Read the end of its log.")
    if code == 137:
        return say(
            "The server was killed (exit code 137), most often because memory ran out. Use less memory and start again."
        )
    return say("The server ended with exit code {code}. Read the end of its log.", code=code)


def _running(health: Health) -> Judgement:
    if health.foreign is not None:
        return Judgement(State.starting if health.phase is HealthPhase.none else State.unwell, health.foreign)
    match health.phase:
        case HealthPhase.none:
            return Judgement(State.starting, say("The process runs; the server does not answer yet."))
        case HealthPhase.http_ok:
            return Judgement(State.starting, say("The server answers; a first request warms it up."))
        case HealthPhase.warmed:
            return Judgement(State.starting, say("The first request was answered; the sanity question comes next."))
        case HealthPhase.insane:
            why = say(
                "It runs, but its answer to a simple question makes no sense: '{answer}'", answer=health.answer[:200]
            )
            return Judgement(State.unwell, why)
    if health.phase is HealthPhase.silent or not health.age_s < FRESH_S:
        why = say("It runs, but it has not answered for {seconds} seconds.", seconds=_whole(health.age_s))
        return Judgement(State.unwell, why)
    if health.stuck_s > 0:
        why = say("It answers, but its requests have not moved for {seconds} seconds.", seconds=_whole(health.stuck_s))
        return Judgement(State.unwell, why)
    return Judgement(State.ready, say("It answers, and its answer to the sanity question was right."))


def _whole(seconds: float) -> int | str:
    return int(seconds) if 0 <= seconds < 1e9 else "?"
