"""The path on Home: green only through what was seen lately, whatever became of a job."""

import time

import pytest

from console.bench import runs
from console.hosts import kept, observe
from console.hosts.inventory import Host
from console.jobs import jobs
from console.jobs.stages import LIMITS, Stage, StageState, stages
from console.jobs.states import JobState
from console.plans.step import Step
from console.records import writing
from console.serving.state import State
from console.text import say, verbatim
from db import models
from tests.pages import seed

OK, STALE, TODO, FAILED = StageState.OK, StageState.STALE, StageState.TODO, StageState.FAILED
RUNNING, WAITING, WARN = StageState.RUNNING, StageState.WAITING, StageState.WARN
BAD = say("The command ended with exit code {code}.", code=1)


def stage(host: Host, name: str) -> Stage:
    return next(one for one in stages(host) if one.name == name)


def job(host: Host, kind: str, state: JobState | None, ago_s: float = 0) -> None:
    """The latest job of this kind, in this state, ended so many seconds ago."""
    if state is None:
        return
    step = Step("one", verbatim("the step"), script="true")
    number = jobs.enqueue(kind, f"host:{host.id}", host.id, verbatim(kind), [step], actor="ann")
    if state == JobState.CANCELLED:
        jobs.cancel(number, actor="ann")
    elif state == JobState.WAITING:
        seed.end(number, state, failing=1, why=say("Take it?"), question=say("Take it?"))
    elif state == JobState.FAILED:
        seed.end(number, state, failing=1, why=BAD)
    elif state != JobState.QUEUED:
        seed.end(number, state, failing=1 if state == JobState.RUNNING else 0, question=None)
    with writing() as session:
        row = session.get_one(models.Job, number)
        if row.ended is not None:
            row.ended = time.time() - ago_s


def see(host: Host, name: str, age_s: float | None) -> None:
    """An observation on which the stage rests, so many seconds old."""
    if age_s is None:
        return
    when = time.time() - age_s
    if name == "measure":
        seed.run(seed.instance(host, "smol", State.stopped), 1)
    elif name == "try":
        seed.conversation(seed.instance(host, "smol", State.stopped), "why?", ["because"])
    elif name == "check":
        observe.probe(host, actor="ann")
    else:
        kept.keep(host.id, [observe.Raw(kept.RUNTIME, "", 0, 1.0)], when, actor="console")
    with writing() as session:
        for row in (*session.query(models.Run), *session.query(models.Probe)):
            row.ended = when
        for message in session.query(models.Message):
            message.created = when


@pytest.mark.parametrize("name", ["check", "install", "try", "measure"])
def test_an_observation_is_green_until_its_limit_and_not_a_second_longer(host: Host, name: str) -> None:
    assert stage(host, name).state == TODO
    see(host, name, LIMITS[name] - 30)
    failing = name == "check" and not str(stage(host, name).words).endswith("fail 0")
    assert stage(host, name).state == (FAILED if failing else OK)
    with writing() as session:
        for row in (*session.query(models.Run), *session.query(models.Probe)):
            row.ended -= 31
        for message in session.query(models.Message):
            message.created -= 31
    assert stage(host, name).state == (FAILED if failing else STALE)


FRESH, OLD = 10.0, 2 * 86_400.0


@pytest.mark.parametrize("name", ["install", "try", "measure"])
@pytest.mark.parametrize(
    ("state", "ended_ago", "seen_ago", "wanted"),
    [
        (None, 0, None, TODO),
        (JobState.QUEUED, 0, None, RUNNING),
        (JobState.QUEUED, 0, FRESH, RUNNING),
        (JobState.RUNNING, 0, None, RUNNING),
        (JobState.WAITING, 0, FRESH, WAITING),
        (JobState.FAILED, 0, None, FAILED),
        (JobState.FAILED, 5, FRESH, FAILED),
        (JobState.FAILED, 60, FRESH, OK),
        (JobState.FAILED, 3 * 86_400, OLD, STALE),
        (JobState.CANCELLED, 0, None, TODO),
        (JobState.CANCELLED, 0, FRESH, OK),
        (JobState.SUCCEEDED, 0, None, TODO),
        (JobState.SUCCEEDED, 0, FRESH, OK),
        (JobState.SUCCEEDED, 0, OLD, STALE),
    ],
)
def test_what_a_job_adds_to_what_was_seen(
    host: Host, name: str, state: JobState | None, ended_ago: float, seen_ago: float | None, wanted: StageState
) -> None:
    see(host, name, seen_ago)
    job(host, name, state, ended_ago)
    found = stage(host, name)
    assert found.state == wanted
    if wanted == FAILED:
        assert found.words == BAD
    if wanted == WAITING:
        assert str(found.words) == "Take it?"
    assert (found.job_id is None) == (state is None)


@pytest.mark.parametrize(
    ("state", "fresh", "old"),
    [
        (State.ready, OK, WARN),
        (State.starting, RUNNING, WARN),
        (State.unwell, WARN, WARN),
        (State.stopping, RUNNING, WARN),
        (State.failed, FAILED, FAILED),
        (State.lost, WARN, WARN),
        (State.stopped, TODO, TODO),
    ],
)
def test_a_server_is_green_only_while_it_is_looked_at(
    host: Host, state: State, fresh: StageState, old: StageState
) -> None:
    number = seed.instance(host, "smol", state)
    assert stage(host, "serve").state == fresh
    with writing() as session:
        session.get_one(models.Instance, number).observed = time.time() - LIMITS["serve"] - 5
    assert stage(host, "serve").state == old
    assert "smol" in str(stage(host, "serve").words)


def test_of_several_servers_the_best_counts(host: Host) -> None:
    assert (stage(host, "serve").state, str(stage(host, "serve").words)) == (TODO, "no instance yet")
    for name, state in (("down", State.failed), ("up", State.ready), ("off", State.stopped)):
        seed.instance(host, name, state)
    assert "up" in str(stage(host, "serve").words)
    assert stage(host, "serve").state == OK
    seed.instance(host, "noise", State.ready, noise=True)
    assert "up" in str(stage(host, "serve").words), "random words are no pilot where there is a choice"


def test_an_answer_that_was_cut_proves_nothing(host: Host) -> None:
    number = seed.instance(host, "smol", State.stopped)
    seed.conversation(number, "why?", ["because of"], cut=True)
    assert stage(host, "try").state == TODO


def test_another_hosts_server_and_measurement_are_not_ours(host: Host) -> None:
    with writing() as session:
        other = models.Host(name="other", kind="ssh", work_folder="/w", created=time.time())
        session.add(other)
        session.flush()
        number = other.id
    see(host, "measure", 1)
    elsewhere = Host(number, "other", "ssh", "/w")
    assert runs.latest(number) is None
    assert stage(elsewhere, "measure").state == TODO
    assert stage(elsewhere, "serve").state == TODO
