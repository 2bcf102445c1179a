"""Impatient people and several windows: one start, one path of jobs, seen alike everywhere."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from console.hosts import inventory
from console.jobs import history, path
from tests.pretended_machine import misfort
from tests.running import RunningConsole, until

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.needs("chromium")]
PILOT = ["check", "install", "start", "try", "measure"]


def start_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Start the pilot on this machine")


def kinds() -> list[str]:
    return [job.kind for job in reversed(history.jobs())]


def finished() -> bool:
    return "measure" in kinds() and not history.active_count()


def test_four_clicks_at_once_are_one_pilot(console: RunningConsole, folder: Path, page: Page) -> None:
    console.start()
    page.goto(console.link)
    start_button(page).evaluate("button => { for (let n = 0; n < 4; n++) button.click() }")
    until(finished, what="the end of the pilot")
    assert kinds() == PILOT
    assert {job.state for job in history.jobs()} == {"succeeded"}


def test_what_takes_the_place_of_the_button_does_not_stop_the_pilot(
    console: RunningConsole, folder: Path, page: Page
) -> None:
    """A hand that still clicks where the start button was."""
    console.start()
    page.goto(console.link)
    box = start_button(page).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(x, y)
    expect(page.get_by_role("button", name="Stop the pilot")).to_be_visible()
    for _ in range(3):
        page.mouse.click(x, y)
    until(finished, what="the end of the pilot")
    assert kinds() == PILOT
    assert {job.state for job in history.jobs()} == {"succeeded"}


def test_starting_again_while_the_engine_starts_gives_the_job_there_is(console: RunningConsole, folder: Path) -> None:
    misfort(folder, "--slow-start 15")
    console.start()
    host = inventory.this_machine()
    path.start_pilot(host.id, actor="me")
    until(lambda: kinds()[-1:] == ["start"], what="the start of the engine")
    assert path.start_pilot(host.id, actor="she") == history.jobs(1)[0].id
    until(finished, what="the end of the pilot")
    assert kinds() == PILOT


def test_two_browsers_see_the_same_job(console: RunningConsole, folder: Path, browser: Browser, page: Page) -> None:
    misfort(folder, "--slow-start 15")
    console.start()
    page.goto(console.link)
    start_button(page).click()
    until(lambda: kinds()[-1:] == ["start"], what="the start of the engine")
    other = browser.new_context(viewport={"width": 1000, "height": 800}, locale="en-US").new_page()
    other.goto(console.link)
    for one in (page, other):
        shown = one.get_by_role("link", name="Show the job")
        expect(shown).to_have_attribute("href", re.compile(r"job\?job=3$"))
        shown.click()
        expect(one.get_by_role("heading", name="#3 Start")).to_be_visible()
    until(finished, what="the end of the pilot")
    assert kinds() == PILOT
    for one in (page, other):
        expect(one.locator(".st-key-job-head-3")).to_contain_text("succeeded")
    other.context.close()
