"""The live charts in a real browser: zoom outlives the ticks, silence is said, leaving the page ends the requests."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from console.metrics.exposition import parse
from console.metrics.store import Samples
from tests.metrics.engine import PretendedEngine

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium")]
ROOT = Path(__file__).parents[2]
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--no-first-run"]  # fmt: skip
RANGES = "() => [...document.querySelectorAll('.pilot-live .plot')].map(n => n._fullLayout.xaxis.range.join())"
TICKS = 3


def measure(path: Path, stop: threading.Event) -> None:
    """Five minutes of history at once, then a scrape every two seconds, as the worker does."""
    engine = PretendedEngine(running=1, usage=0.3)
    with Samples(path) as samples:
        for age in range(300, 0, -2):
            engine.finish(0.3)
            samples.append(1, time.time() - age, 1, parse(engine.text()))
        while not stop.wait(2):
            engine.finish(0.3)
            samples.append(1, time.time(), 1, parse(engine.text()))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path, stop = tmp_path_factory.mktemp("live") / "samples.sqlite", threading.Event()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    measuring = threading.Thread(target=measure, args=(path, stop))
    command = [sys.executable, "-m", "tests.metrics.scratch_page", str(path), str(port)]
    server = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL)
    measuring.start()
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health")
        yield f"http://127.0.0.1:{port}"
    finally:
        stop.set()
        measuring.join()
        server.terminate()
        server.wait()


def wait_for(address: str) -> None:
    for _ in range(150):
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"{address} does not answer")


@pytest.fixture
def page(address: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        page = browser.new_page(viewport={"width": 1280, "height": 860}, timezone_id="Asia/Shanghai")
        page.set_default_timeout(60_000)
        page.goto(address)
        page.locator(".pilot-live .panel").nth(5).locator(".main-svg").first.wait_for()
        page.wait_for_function("() => document.querySelector('.pilot-live b').textContent !== '–'")
        yield page
        browser.close()


def ticks(page: Page, count: int) -> list[int]:
    """Wait for so many answers; their sizes in bytes."""
    sizes = []
    for _ in range(count):
        with page.expect_response("**/pilot/series*") as answer:
            pass
        sizes.append(len(answer.value.body()))
    page.wait_for_timeout(300)
    return sizes


def zoom(page: Page) -> None:
    box = page.locator(".pilot-live .nsewdrag").first.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 100, y, steps=5)
    page.mouse.up()
    page.wait_for_timeout(600)


def test_zoom_outlives_ticks_in_the_same_nodes_and_a_double_click_follows_again(page: Page) -> None:
    page.evaluate("() => { window.nodes = [...document.querySelectorAll('.pilot-live .main-svg')] }")
    before = page.evaluate(RANGES)
    assert len(set(before)) == 1
    zoom(page)
    zoomed = page.evaluate(RANGES)
    assert len(set(zoomed)) == 1
    assert zoomed != before
    sizes = ticks(page, TICKS)
    assert page.evaluate(RANGES) == zoomed
    assert max(sizes) < 1000
    assert page.evaluate(
        "() => [...document.querySelectorAll('.pilot-live .main-svg')].every((n, i) => n === nodes[i])"
    )
    assert page.locator(".pilot-live .note", has_text="Zoomed").count() == 1
    page.locator(".pilot-live .nsewdrag").first.dblclick()
    ticks(page, 1)
    followed = page.evaluate(RANGES)
    ticks(page, 1)
    assert followed[0] < page.evaluate(RANGES)[0]
    assert page.locator(".pilot-live .note", has_text="Zoomed").count() == 0


def test_silence_of_the_console_is_said_and_ends(page: Page) -> None:
    page.route("**/pilot/series*", lambda route: route.abort())
    notes = page.locator(".pilot-live .note", has_text="No answer from the console since")
    notes.nth(5).wait_for()
    page.unroute("**/pilot/series*")
    notes.first.wait_for(state="detached")


def test_leaving_ends_the_requests_and_nothing_goes_elsewhere(page: Page, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.locator(".pilot-live .main-svg").first.wait_for()
    ticks(page, 1)
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    page.get_by_text("charts", exact=True).click()
    page.locator(".pilot-live .panel").first.wait_for(state="detached")
    asked.clear()
    page.wait_for_timeout(5000)
    assert [url for url in asked if "/pilot/series" in url] == []


def test_a_hidden_tab_asks_nothing(page: Page) -> None:
    shown = "state => { Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });"
    shown += " document.dispatchEvent(new Event('visibilitychange')) }"
    page.evaluate(shown, "hidden")
    page.wait_for_timeout(500)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(5000)
    assert asked == []
    with page.expect_request("**/pilot/series*"):
        page.evaluate(shown, "visible")
