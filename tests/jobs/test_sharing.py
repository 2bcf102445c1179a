"""Checks of many hosts at once: only so many run, and they keep nobody else from working."""

from console.hosts import inventory
from console.hosts.reach import Reach
from console.jobs import jobs, path
from console.jobs.states import JobState
from console.jobs.worker import MOST_SHARING, due
from console.plans.step import Step
from console.records import writing
from console.text import say
from db import models
from tests.jobs.conftest import data, host

__all__ = ["data", "host"]


def many(count: int) -> list[int]:
    """Jobs that check so many hosts."""
    hosts = [inventory.add_host(f"gpu{number}", Reach("192.0.2.1"), actor="ann") for number in range(count)]
    return [path.start("check", one.id, actor="ann") for one in hosts]


def test_a_check_of_a_hundred_hosts_runs_some_at_a_time(data: object) -> None:
    queued = many(100)
    first = due([])
    assert first == queued[:MOST_SHARING]
    assert due(first) == [], "no more until one of them has ended"
    with writing() as session:
        for number in first[:5]:
            session.get_one(models.Job, number).state = JobState.SUCCEEDED
    assert due(first[5:]) == queued[MOST_SHARING : MOST_SHARING + 5]


def test_they_keep_no_other_job_waiting(data: object) -> None:
    many(MOST_SHARING + 10)
    alone = inventory.named("gpu0")
    steps = [Step("one", say("Check"), script="true")]
    other = jobs.enqueue("install", "somewhere", alone.id, say("Check"), steps, actor="ann")
    assert other in due([])
    again = path.ask_again("architecture", alone.id, actor="ann")
    assert again not in due(due([])), "asking again counts among them"


def test_what_a_former_worker_left_is_taken_up_and_counts(data: object) -> None:
    queued = many(MOST_SHARING + 3)
    with writing() as session:
        for number in queued[:2]:
            session.get_one(models.Job, number).state = JobState.RUNNING
    assert due([]) == queued[:MOST_SHARING]
