"""The state of an instance, over every combination of wish, process and health."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.serving.state import (
    FRESH_S,
    Health,
    HealthPhase,
    Judgement,
    Process,
    ProcessPhase,
    State,
    Wish,
    decide,
)
from console.text import say

ATTEMPT = 3
AGES = {"fresh": 1.0, "stale": FRESH_S}
UP_AND_RUNNING = {
    (HealthPhase.none, "fresh"): State.starting,
    (HealthPhase.none, "stale"): State.starting,
    (HealthPhase.http_ok, "fresh"): State.starting,
    (HealthPhase.http_ok, "stale"): State.starting,
    (HealthPhase.warmed, "fresh"): State.starting,
    (HealthPhase.warmed, "stale"): State.starting,
    (HealthPhase.sane, "fresh"): State.ready,
    (HealthPhase.sane, "stale"): State.unwell,
    (HealthPhase.insane, "fresh"): State.unwell,
    (HealthPhase.insane, "stale"): State.unwell,
    (HealthPhase.silent, "fresh"): State.unwell,
    (HealthPhase.silent, "stale"): State.unwell,
}
NOT_RUNNING = {
    (Wish.up, ProcessPhase.never): State.starting,
    (Wish.up, ProcessPhase.exited): State.failed,
    (Wish.up, ProcessPhase.gone): State.lost,
    (Wish.up, ProcessPhase.unreachable): State.lost,
    (Wish.down, ProcessPhase.never): State.stopped,
    (Wish.down, ProcessPhase.exited): State.stopped,
    (Wish.down, ProcessPhase.gone): State.stopped,
    (Wish.down, ProcessPhase.unreachable): State.lost,
}


def expected(wish: Wish, process: ProcessPhase, health: HealthPhase, age: str, same_attempt: bool) -> State:
    if process is not ProcessPhase.running:
        return NOT_RUNNING[wish, process]
    if wish is Wish.down:
        return State.stopping
    return UP_AND_RUNNING[health, age] if same_attempt else State.starting


@pytest.mark.parametrize("same_attempt", [True, False])
@pytest.mark.parametrize(("wish", "process"), list(itertools.product(Wish, ProcessPhase)))
def test_the_whole_table(wish: Wish, process: ProcessPhase, same_attempt: bool) -> None:
    seen = 0
    for phase, age in itertools.product(HealthPhase, AGES):
        health = Health(phase, ATTEMPT if same_attempt else ATTEMPT - 1, AGES[age])
        for code, stuck in itertools.product((None, 0, 1, 137), (0.0, 61.0)):
            health = replace(health, stuck_s=stuck)
            made = decide(wish, Process(process, ATTEMPT, code), health)
            wanted = expected(wish, process, phase, age, same_attempt)
            if stuck and wanted is State.ready:
                wanted = State.unwell
            assert made.state is wanted, (phase, age, stuck)
            assert "{" not in str(made.reason)
            seen += 1
    assert seen == len(HealthPhase) * 2 * 4 * 2


def test_the_reasons_say_what_was_seen() -> None:
    running = Process(ProcessPhase.running, 1)

    def reason(made: Judgement) -> str:
        return str(made.reason)

    assert "'Paris Paris'" in reason(decide(Wish.up, running, Health(HealthPhase.insane, 1, 0, "Paris Paris")))
    assert "for 14 seconds" in reason(decide(Wish.up, running, Health(HealthPhase.silent, 1, 14.7)))
    other = say("Port {port} is held by somebody.", port="8000")
    held = decide(Wish.up, running, Health(HealthPhase.none, 1, foreign=other))
    assert held == Judgement(State.starting, other), "what answers is not it, so it cannot be ready yet"
    assert decide(Wish.up, running, Health(HealthPhase.sane, 1, 0, foreign=other)) == Judgement(State.unwell, other)
    assert "not moved for 61 s" in reason(decide(Wish.up, running, Health(HealthPhase.sane, 1, 1, "Paris", 61.5)))
    assert "exit code 3" in reason(decide(Wish.up, Process(ProcessPhase.exited, 1, 3), Health()))
    assert "memory" in reason(decide(Wish.up, Process(ProcessPhase.exited, 1, 137), Health()))


WISHES, PROCESSES = st.sampled_from(list(Wish)), st.sampled_from(list(ProcessPhase))
HEALTHS = st.builds(
    Health, st.sampled_from(list(HealthPhase)), st.integers(0, 3), st.floats(), st.text(max_size=300), st.floats()
)
RAN = st.builds(Process, PROCESSES, st.integers(0, 3), st.none() | st.integers())


@given(WISHES, RAN, HEALTHS)
def test_the_promises(wish: Wish, process: Process, health: Health) -> None:
    state = decide(wish, process, health).state
    if state is State.ready:
        assert health.phase is HealthPhase.sane
        assert health.attempt == process.attempt
        assert health.age_s < FRESH_S
        assert not health.stuck_s > 0
        assert process.phase is ProcessPhase.running
        assert wish is Wish.up
    if process.phase is ProcessPhase.running:
        assert state not in (State.failed, State.lost, State.stopped)
    if wish is Wish.down and process.phase in (ProcessPhase.never, ProcessPhase.exited, ProcessPhase.gone):
        assert state is State.stopped
    if process.phase is ProcessPhase.unreachable:
        assert state is State.lost
