"""A server on the NPUs of a rehearsal host as a person sees it: chosen, started, talked to, watched, stopped."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from console.hosts.inventory import Host
from console.jobs import installing
from console.jobs.stacks import Wish
from console.plans.refusals import Route
from console.serving import instances, launch
from tests.browser import browser, page
from tests.e2e.test_pilot import DRAWN, WATCHED
from tests.jobs.conftest import data
from tests.jobs.npus import Make, carried, make, told
from tests.running import RunningConsole
from tests.survival.npu_models import bring

__all__ = ["browser", "data", "make", "page"]
pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.needs("sshd", "ssh-keygen", "chromium")]
FIGURES = re.compile(
    r"first token after \d+ ms · [\d.]+ tokens/s · \d+ prompt \+ 300 answer tokens · (\d+ ms|[\d.]+ s) in all · tiny"
)


@pytest.fixture
def console(data: Path, make: Make) -> Iterator[RunningConsole]:
    """Ends before its hosts do."""
    one = RunningConsole(data)
    yield one
    one.close()


@pytest.fixture
def host(console: RunningConsole, make: Make, tmp_path: Path) -> Host:
    """With a model, and an image that was pulled by the console."""
    made = make("two-healthy-910b4")
    bring(made, tmp_path / "tiny")
    console.start()
    job = carried(installing.start(made.id, Wish(Route.DOCKER), actor="me"))
    assert job.state == "succeeded", told(job)
    return made


def test_from_launch_to_an_answer_and_to_free_cards(console: RunningConsole, host: Host, page: Page) -> None:
    page.goto(console.link.replace("/?", f"/launch?host={host.id}&"))
    started(page)
    (one,) = instances.instances()
    key = launch.api_key(one)
    assert key
    seen = [address_and_page(page)]
    page.get_by_role("link", name="Instances").click()
    expect(page.locator(f".st-key-instance-{one.id}")).to_contain_text("NPU 0")
    seen.append(address_and_page(page))
    page.get_by_role("link", name="Talk").click()
    talked(page)
    seen.append(address_and_page(page))
    watched(page)
    seen.append(address_and_page(page))
    page.get_by_role("link", name="Instances").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("○ stopped")).to_be_visible()
    page.get_by_role("link", name="Launch").click()
    expect(card(page, 0)).to_be_enabled()
    expect(card(page, 1)).to_be_enabled()
    assert not any(key in words for words in seen)


def card(page: Page, number: int) -> Locator:
    return page.get_by_role("checkbox", name=f"NPU {number}")


def started(page: Page) -> None:
    """Verdict, cards and command in sight; with a key; followed until it is ready."""
    expect(page.get_by_text("It fits: of")).to_be_visible()
    expect(card(page, 0)).to_be_checked()
    page.get_by_text("More settings").click()
    page.get_by_role("tab", name="Name and network").click()
    page.get_by_text("Ask clients for an API key").click()
    command = page.get_by_test_id("stCode").first
    expect(command).to_contain_text("--env VLLM_API_KEY")
    expect(command).to_contain_text("--device /dev/davinci0")
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url(re.compile(r"/instance\?instance=\d+"))
    expect(page.get_by_text("Ascend NPUs, in a container")).to_be_visible()
    expect(page.get_by_text("● ready")).to_be_visible()
    expect(page.get_by_text("the answer took")).to_be_visible()


def talked(page: Page) -> None:
    """The answer comes in pieces; its figures stand below it; as code there is a place for the key."""
    question = page.get_by_test_id("stChatInputTextArea")
    question.wait_for()
    page.evaluate(WATCHED)
    question.fill("count to 300")
    question.press("Enter")
    expect(page.get_by_text(FIGURES)).to_be_visible()
    assert len(page.evaluate("() => window.shown")) >= 2
    page.get_by_role("button", name="View as code").click()
    expect(page.get_by_text("YOUR_API_KEY").first).to_be_visible()
    page.keyboard.press("Escape")


def watched(page: Page) -> None:
    """The panels have drawn the answer: tokens were generated."""
    page.get_by_role("link", name="Monitor").click()
    page.wait_for_function(f"({DRAWN})().filter(values => Math.max(0, ...values) > 0).length >= 4")
    expect(page.get_by_text("● ready")).to_be_visible()


def address_and_page(page: Page) -> str:
    return f"{page.url}\n{page.content()}"
