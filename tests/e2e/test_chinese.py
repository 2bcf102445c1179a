"""Every page of a console in which much has happened, in Chinese: none of our English sentences is left in sight."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from playwright.sync_api import Browser, Page

from console.text import LOCALE_FOLDER
from tests.browser import SLOW_MS
from tests.pretended_machine import misfort, pretend
from tests.running import RunningConsole, opened

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]
CATALOG = LOCALE_FOLDER / "zh" / "LC_MESSAGES" / "console.po"
ENOUGH = 100
"""Entries below which the catalog is still being written."""
PAGES = [
    "",
    "hosts",
    "checklist",
    "install",
    "models",
    "launch",
    "instances",
    "playground",
    "playground?conversation=1",
]
PAGES += ["monitor", "history", "settings", "job?job=1", "job?job=2", "job?job=3", "job?job=99", "instance?instance=1"]
PAGES += ["instance?instance=2", "instance?instance=99", "job?job=6"]
STILL = "[data-testid='stApp'][data-test-script-state='notRunning']"
SEEN = """() => {
  const printed = '[data-testid=stCode], [data-testid=stChatMessage]'  // what machines and models wrote
  const hidden = [...document.querySelectorAll(printed)]
  hidden.forEach(one => one.style.visibility = 'hidden')
  const text = document.body.innerText
  hidden.forEach(one => one.style.visibility = '')
  return text
}"""


def sentences() -> dict[str, re.Pattern[str]]:
    """English sentences of three words and more that read differently in Chinese, as patterns of what is shown."""
    with CATALOG.open("rb") as file:
        entries = [entry for entry in read_po(file, locale="zh") if isinstance(entry.id, str) and entry.id]
    found = {}
    for entry in entries:
        plain = re.sub(r"\*\*|`", "", str(entry.id))
        own = re.sub(r"\{\w+\}", " ", plain)
        if len(re.findall(r"[A-Za-z]{2,}", own)) >= 3 and entry.string != entry.id:
            parts = [re.escape(part) for part in re.split(r"\{\w+\}", plain)]
            found[str(entry.id)] = re.compile(".{1,200}?".join(parts).replace(r"\ ", r"\s+"))
    return found


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningConsole]:
    """A pilot that went well, and a start that failed."""
    folder = tmp_path_factory.mktemp("zh") / "data"
    pretend(folder)
    one = RunningConsole(folder)
    try:
        with opened(folder):
            done = one.run("run", "--json")
            assert done.returncode == 0, done.stdout + done.stderr
            failed_start(folder)
        one.start()
        yield one
    finally:
        one.close()


def failed_start(folder: Path) -> None:
    """The second instance ends at once."""
    from dataclasses import replace

    from console.hosts import inventory
    from console.jobs import history, path
    from console.serving import instances
    from tests.running import until

    misfort(folder, "--exit-at-start 3")
    host, spec = inventory.this_machine(), instances.instance(1).spec
    number = instances.create(
        host.id, replace(spec, port=spec.port + 100, served_name="second"), noise=False, actor="我"
    )
    job = path.queue(path.start_instance(number), "start", host.id, actor="我")
    until(lambda: not history.job(job).active, what="the failed start")


@pytest.fixture(scope="module")
def chinese(browser: Browser, console: RunningConsole) -> Iterator[Page]:
    context = browser.new_context(locale="zh-CN", timezone_id="Asia/Shanghai", viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(SLOW_MS)
    page = context.new_page()
    page.goto(console.link)
    yield page
    context.close()


@pytest.mark.parametrize("path", PAGES)
def test_no_english_sentence_of_ours_is_seen(chinese: Page, console: RunningConsole, path: str) -> None:
    known = sentences()
    if len(known) < ENOUGH:
        pytest.skip(f"the Chinese catalog has {len(known)} sentences of three words and more; it is being written")
    chinese.goto(f"{console.address}/{path}")
    chinese.locator("h1").first.wait_for()
    chinese.locator(STILL).wait_for()
    chinese.evaluate("() => document.querySelectorAll('details:not([open]) > summary').forEach(one => one.click())")
    chinese.locator(STILL).wait_for()
    chinese.wait_for_timeout(500)
    text = chinese.evaluate(SEEN)
    assert re.search(r"[一-鿿]{4}", text)
    assert [sentence for sentence, shown in known.items() if shown.search(text)] == []
    for tab in chinese.get_by_role("tab").all():
        tab.click()
        chinese.locator(STILL).wait_for()
        chinese.wait_for_timeout(500)
        text = chinese.evaluate(SEEN)
        assert [sentence for sentence, shown in known.items() if shown.search(text)] == []


def test_the_same_look_finds_english_where_it_is_shown(browser: Browser, console: RunningConsole) -> None:
    """Otherwise a page without a finding would prove nothing."""
    context = browser.new_context(locale="en-US", viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(SLOW_MS)
    page = context.new_page()
    page.goto(console.link)
    page.locator(STILL).wait_for()
    page.locator("h1").first.wait_for()
    text = page.evaluate(SEEN)
    assert len([sentence for sentence, shown in sentences().items() if shown.search(text)]) >= 3
    context.close()
