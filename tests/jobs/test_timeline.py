"""How long a pilot took: first moments of each stage, over several sittings, and the work in between."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.jobs import jobs
from console.jobs.overview import overview
from console.jobs.states import JobState
from console.jobs.timeline import NAMES, Span, Timeline, covered, timeline
from console.plans.step import Step
from console.records import writing
from console.serving.state import State
from console.text import verbatim
from db import models
from tests.pages import seed

NOW = time.time()


def span(known: Timeline, name: str) -> Span:
    return next(one for one in known.spans if one.name == name)


def entered(host: Host, moment: float) -> None:
    with writing() as session:
        session.get_one(models.Host, host.id).created = moment


def job(host: Host, kind: str, began: float, ended: float, state: JobState = JobState.SUCCEEDED) -> None:
    """One job of one step that ran the whole time."""
    number = jobs.enqueue(kind, f"host:{host.id}", host.id, verbatim(kind), [Step("one", verbatim("one"))], actor="me")
    seed.end(number, state, failing=1 if state == JobState.FAILED else 0, why=verbatim("no"))
    with writing() as session:
        row = session.get_one(models.Job, number)
        row.started, row.ended = began, ended
        row.steps[0].started, row.steps[0].ended = began, ended


def test_before_anything_happened(host: Host) -> None:
    known = timeline(host)
    assert [one.name for one in known.spans] == list(NAMES)
    assert [one.done for one in known.spans] == [None] * len(NAMES)
    assert (known.to_answer_s, known.work_s) == (None, 0.0)


def test_over_several_sittings(host: Host) -> None:
    """Friday the check fails; on Monday it is mended, and the rest takes seven minutes."""
    friday, monday = NOW - 4 * 86_400, NOW - 86_400
    entered(host, friday)
    job(host, "check", friday + 10, friday + 12, JobState.FAILED)
    job(host, "check", monday, monday + 2)
    job(host, "install", monday + 2, monday + 302)
    job(host, "start", monday + 302, monday + 400)
    job(host, "try", monday + 400, monday + 405)
    job(host, "measure", monday + 405, monday + 500)
    job(host, "check", NOW - 50, NOW - 40)
    known = timeline(host)
    assert (span(known, "check").began, span(known, "check").done) == (friday + 10, monday + 2)
    assert span(known, "install").took_s == 300
    assert span(known, "serve").done == monday + 400
    assert known.to_answer_s == pytest.approx(3 * 86_400 + 405)
    assert known.work_s == pytest.approx(2 + 405), "what came after the first answer is not part of it"
    assert span(known, "measure").done == monday + 500


def test_a_pilot_that_was_walked_by_hand(host: Host) -> None:
    entered(host, NOW - 1000)
    number = seed.instance(host, "smol", State.ready)
    seed.conversation(number, "why?", ["because of"], cut=True)
    assert timeline(host).to_answer_s is None, "an answer that was cut off is none"
    seed.conversation(number, "why?", ["because"])
    seed.run(number, 1)
    known = timeline(host)
    assert known.to_answer_s is not None
    assert known.to_answer_s >= 1000
    assert span(known, "serve").done is not None
    assert span(known, "measure").done is not None


def test_another_host_has_a_time_of_its_own(host: Host) -> None:
    seed.conversation(seed.instance(host, "smol", State.ready), "why?", ["because"])
    other = inventory.add_host("gpu1", Reach("10.0.0.5"), actor="me")
    known = timeline(other)
    assert [one.name for one in known.spans if one.done is not None] == []


PIECES = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda two: (min(two), max(two))), max_size=8)


@given(PIECES)
def test_time_that_is_covered_twice_counts_once(pieces: list[tuple[int, int]]) -> None:
    seconds = {second for began, ended in pieces for second in range(began, ended)}
    assert covered((float(began), float(ended)) for began, ended in pieces) == len(seconds)


def test_the_overview_tells_the_latest_job_of_each_host(host: Host) -> None:
    other = inventory.add_host("gpu1", Reach("10.0.0.5"), actor="me")
    untouched = inventory.add_host("gpu2", Reach("10.0.0.6"), actor="me")
    job(host, "check", NOW - 60, NOW - 50)
    job(host, "install", NOW - 50, NOW - 40, JobState.FAILED)
    job(other, "check", NOW - 30, NOW - 20)
    seed.instance(other, "smol", State.ready)
    found = overview([host, other, untouched])
    assert [(one.host.id, one.kind, one.state, one.ready) for one in found] == [
        (host.id, "install", "failed", 0),
        (other.id, "check", "succeeded", 1),
        (untouched.id, None, None, 0),
    ]
