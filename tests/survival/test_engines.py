"""Engines that die, talk nonsense or hang: the console says so within seconds, with the evidence on the page."""

import os
import re
import signal
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from console.jobs import history
from console.serving import instances
from console.serving.state import State
from tests.pretended_machine import misfort
from tests.running import RunningConsole, session_of, until
from tests.survival.conftest import engine_of, ready, started, stopped

pytestmark = [pytest.mark.e2e, pytest.mark.engine]
NOTICED_S = 5.0
"""An engine that was killed is shown as failed within this time: a promise of the product, not of a fast machine."""


@pytest.mark.needs("chromium")
def test_an_engine_killed_from_outside(console: RunningConsole, folder: Path, page: Page) -> None:
    misfort(folder, "--children 2")
    console.start()
    number = ready()
    page.goto(console.link)
    page.goto(f"{console.address}/instance?instance={number}")
    expect(page.get_by_text("● ready")).to_be_visible()
    os.kill(engine_of(folder), signal.SIGKILL)
    killed = time.time()
    until(lambda: instances.instance(number).state == State.failed, what="the failure")
    seen = history.events(f"instance:{number}")[0]
    assert (seen.was, seen.became) == ("ready", "failed")
    assert seen.time - killed <= NOTICED_S
    expect(page.get_by_text("■ failed")).to_be_visible()
    expect(page.get_by_text("The server was killed (exit code 137)").first).to_be_visible()
    page.reload()
    expect(page.get_by_role("combobox", name="Attempt")).to_have_value(re.compile("ended after .* exit code 137"))
    expect(page.locator(f".st-key-attempt-log-{number}")).to_contain_text("Application startup complete")
    (attempt,) = instances.attempts(number)
    assert attempt.code == 137
    until(lambda: session_of(Path(attempt.folder)) == [], what="the end of what the engine had started")


@pytest.mark.needs("chromium")
def test_an_engine_that_talks_nonsense_is_unwell(console: RunningConsole, folder: Path, page: Page) -> None:
    misfort(folder, "--answers garbage")
    console.start()
    number = started()
    until(lambda: instances.instance(number).state == State.unwell, what="the verdict")
    (job,) = history.for_subject(f"instance:{number}")
    until(lambda: not history.job(job.id).active, what="the end of the job")
    assert history.job(job.id).state == "failed"
    assert instances.attempts(number)[0].ready is None
    page.goto(console.link)
    page.goto(f"{console.address}/instance?instance={number}")
    expect(page.get_by_text("▲ unwell")).to_be_visible()
    expect(page.get_by_text("Asked “What is the capital of France?”")).to_be_visible()
    evidence = page.get_by_test_id("stCode").filter(has_text="The region of the several").first
    expect(evidence).to_be_visible()


def test_an_engine_that_hangs_is_not_ready_and_may_come_back(console: RunningConsole, folder: Path) -> None:
    console.start()
    number = ready()
    engine = engine_of(folder)
    os.kill(engine, signal.SIGSTOP)
    until(lambda: instances.instance(number).state == State.unwell, what="the doubt")
    assert "has not answered for" in str(instances.instance(number).reason)
    os.kill(engine, signal.SIGCONT)
    until(lambda: instances.instance(number).state == State.ready, what="the recovery")
    assert [event.became for event in history.events(f"instance:{number}")][:3] == ["ready", "unwell", "ready"]
    os.kill(engine, signal.SIGSTOP)
    stopped(console, folder, number)


def test_an_engine_that_does_not_heed_is_ended_with_all_its_children(console: RunningConsole, folder: Path) -> None:
    misfort(folder, "--ignore-term --children 3")
    console.start()
    number = ready()
    attempt = Path(instances.attempts(number)[0].folder)
    assert len(session_of(attempt)) > 4
    stopped(console, folder, number)


def test_an_engine_that_ends_before_it_answers(console: RunningConsole, folder: Path) -> None:
    misfort(folder, "--exit-at-start 3")
    console.start()
    number = started()
    until(lambda: instances.instance(number).state == State.failed, what="the failure")
    (job,) = history.for_subject(f"instance:{number}")
    until(lambda: not history.job(job.id).active, what="the end of the job")
    assert "exit code 3" in str(history.job(job.id).reason)
    misfort(folder, "")
    assert ready() == number
    assert [attempt.code for attempt in instances.attempts(number)] == [None, 3]
