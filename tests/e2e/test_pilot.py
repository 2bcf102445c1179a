"""The whole path with real vLLM on this machine's CPU, through the browser, the command line and the metrics."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, WebSocket, expect

from console.bench.quick import measure, percentile
from console.hosts import inventory
from console.jobs import history, path
from console.metrics.store import Samples
from console.metrics.windows import Latency, summary
from console.serving import instances, launch
from console.serving.client import EngineClient
from console.serving.state import State
from console.settings import settings
from tests.e2e.conftest import emptied
from tests.running import RunningConsole, opened, processes, session_of, until

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.real_vllm, pytest.mark.needs("chromium")]
LONGEST_S = 1200
"""For an installation and the start of an engine on a machine that has other work too."""
KINDS = ["check", "install", "start", "try", "measure"]
DRAWN = """() => [...document.querySelectorAll('.pilot-live .plot')].map(plot =>
  (plot.data || []).flatMap(trace => [...(trace.y || [])]).filter(value => typeof value === 'number'))"""
"""The values of every panel's lines, by panel."""
WATCHED = """() => {
  window.shown = []
  new MutationObserver(() => {
    const messages = document.querySelectorAll('[data-testid="stChatMessage"]')
    const text = messages.length && [...messages].at(-1).querySelector('[data-testid="stMarkdownContainer"]')?.innerText
    if (text && text !== window.shown.at(-1)) window.shown.push(text)
  }).observe(document.body, { childList: true, subtree: true, characterData: true })
}"""
"""Keeps every text that the last message of a conversation had."""


class Traffic:
    """Every address that the pages of a context ask for, over HTTP and WebSocket."""

    def __init__(self, page: Page) -> None:
        self.asked: list[str] = []
        page.context.on("request", self._request)
        page.on("websocket", self._socket)

    def _request(self, request: Request) -> None:
        self.asked.append(request.url)

    def _socket(self, socket: WebSocket) -> None:
        self.asked.append(socket.url)

    def elsewhere(self, console: RunningConsole) -> list[str]:
        own = (f"{console.address}/", f"ws://127.0.0.1:{console.port}/", "data:", f"blob:{console.address}/")
        return [url for url in self.asked if not url.startswith(own)]


@pytest.fixture
def bare() -> Iterator[RunningConsole]:
    """A console over a data folder with nothing in it."""
    one = RunningConsole(emptied())
    with opened(one.folder):
        one.start()
        yield one
        one.close()


def test_from_a_bare_machine_to_a_measured_answer(bare: RunningConsole, page: Page) -> None:
    traffic = Traffic(page)
    page.goto(bare.link)
    assert "token" not in page.url
    page.get_by_role("button", name="Start the pilot on this machine").click()
    expect(page.get_by_role("button", name="Stop the pilot")).to_be_visible()
    leave_and_come_back(page, bare)
    walk_to_the_end(page)
    talk(page)
    look_at_charts(page)
    look_at_history(page, bare)
    assert traffic.elsewhere(bare) == []
    assert any(url.startswith("ws://") for url in traffic.asked)
    assert any("/pilot/series" in url for url in traffic.asked)


def leave_and_come_back(page: Page, console: RunningConsole) -> None:
    """In the middle of the installation: closed, opened anew, reloaded."""
    until(
        lambda: history.jobs(1)[0].kind == "install" and history.jobs(1)[0].state == "running", what="the installation"
    )
    page.goto("about:blank")
    before = history.jobs(1)[0].done
    until(lambda: history.jobs(1)[0].done > before, LONGEST_S, "a step without an onlooker")
    page.goto(console.address)
    expect(page.get_by_role("button", name="Stop the pilot")).to_be_visible()
    page.reload()
    expect(page.locator(".st-key-stages").get_by_text("◐ running")).to_be_visible()


def walk_to_the_end(page: Page) -> None:
    stages = page.locator(".st-key-stages")
    until(lambda: history.jobs(1)[0].kind == "measure" or not history.active_count(), LONGEST_S, "the last job")
    until(lambda: not history.active_count(), LONGEST_S, "the end of the pilot")
    ended = [(job.kind, job.state, job.attempt, str(job.reason)) for job in reversed(history.jobs())]
    assert ended == [(kind, "succeeded", 1, "None") for kind in KINDS]
    expect(stages.get_by_text("● done")).to_have_count(4)
    expect(stages.get_by_text("● reachable")).to_have_count(1)
    expect(stages.get_by_text("● ready")).to_have_count(1)
    expect(stages).to_contain_text("Paris")
    expect(stages).to_contain_text("TTFT p50")


def talk(page: Page) -> None:
    """Tokens come one after the other, and figures stand under the answer."""
    page.get_by_role("link", name="Talk to the model").click()
    question = page.get_by_test_id("stChatInputTextArea")
    question.wait_for()
    page.evaluate(WATCHED)
    question.fill("What is the capital of Italy? Say it in one sentence.")
    question.press("Enter")
    figures = page.get_by_text(re.compile(r"first token after \d+ ms · [\d.]+ tokens/s"))
    expect(figures).to_be_visible(timeout=600_000)
    assert len(page.evaluate("() => window.shown")) >= 2
    assert re.search(r"conversation=\d+", page.url)


def look_at_charts(page: Page) -> None:
    """Six panels: latencies that are seconds, a rate that is no zero, a cache of some size."""
    page.get_by_role("link", name="Home").click()
    page.get_by_role("link", name="Watch it work").click()
    page.locator(".pilot-live .panel").nth(5).locator(".main-svg").first.wait_for()
    page.wait_for_function(f"({DRAWN})().filter(values => values.length).length === 6")
    panels = page.evaluate(DRAWN)
    for latencies in panels[:3]:
        assert 0 < max(latencies) < 1e5
    assert max(panels[3]) > 1
    assert max(panels[4]) >= 1
    expect(page.get_by_role("heading", name="Measurements")).to_be_visible()


def look_at_history(page: Page, console: RunningConsole) -> None:
    page.get_by_role("link", name="History").click()
    for number, title in enumerate(("Check", "Install vLLM", "Start", "First answer", "Measure"), start=1):
        expect(page.get_by_role("link", name=f"#{number} {title}")).to_be_visible()
    page.goto(f"{console.address}/job?job=2")
    expect(page.get_by_role("heading", name="#2 Install vLLM")).to_be_visible()
    expect(page.locator(".st-key-job-head-2")).to_contain_text("succeeded")
    page.goto(f"{console.address}/instance?instance=1")
    expect(page.get_by_text("● ready")).to_be_visible()
    expect(page.get_by_text("The capital of France is Paris.").first).to_be_visible()
    expect(page.locator(".st-key-attempt-log-1")).to_contain_text("Application startup complete")


@pytest.fixture(scope="module")
def ready(console: RunningConsole) -> Iterator[RunningConsole]:
    """The same console once the instance of the pilot is ready."""
    with opened(console.folder):
        host = inventory.this_machine()
        number = launch.pilot_instance(host)
        job = path.queue(path.start_instance(number), "start", host.id, actor="me")
        until(lambda: not history.job(job).active, LONGEST_S, "the end of the start")
        assert instances.instance(number).state == State.ready
        yield console


def test_the_command_line_walks_the_path(ready: RunningConsole) -> None:
    """On a machine where everything is there: nothing is installed, nothing is started anew."""
    again = ready.run("run", "--host", "local", "--json")
    assert again.returncode == 0, again.stdout + again.stderr
    said = json.loads(again.stdout)
    assert said["succeeded"]
    assert "Paris" in said["answer"]
    assert [job["kind"] for job in said["jobs"]] == KINDS
    assert [run["concurrency"] for run in said["runs"]] == [1, 4]
    assert all(run["tokens_per_s"] > 0 and run["ttft_p50_s"] > 0 for run in said["runs"])
    install = history.job(said["jobs"][1]["id"])
    assert {step.state for step in install.steps if step.step.script} == {"satisfied"}
    (one,) = instances.instances()
    assert (one.attempt, one.state) == (1, State.ready)


def test_the_console_and_the_client_measure_the_same(ready: RunningConsole) -> None:
    """One load, seen from both ends: the medians lie in the same bucket of the engine's histogram, or in neighbours."""
    (one,) = instances.instances()
    began = quiet(one)
    seen, _ = measure(one.address, one.spec.served_name, concurrency=2, requests=12)
    until(lambda: answered(one.id, began) >= len(seen), what="a scrape after the last answer")
    with Samples(settings().samples) as samples:
        scrapes = samples.between(one.id, began, samples.last(one.id).time)  # type: ignore[union-attr]
    told: Latency = summary(scrapes).latency["ttft"]
    assert told.count == len(seen)
    bounds = [bucket.le for bucket in scrapes[-1].histograms["ttft"].buckets]
    client = percentile([request.ttft_s for request in seen], 50)
    console = told.quantiles["p50"].value
    buckets = [next(at for at, bound in enumerate(bounds) if value <= bound) for value in (client, console)]
    assert abs(buckets[0] - buckets[1]) <= 1, (client, console)


def quiet(one: instances.Instance) -> float:
    """The time of the last scrape, taken while the engine had nothing to do."""
    with Samples(settings().samples) as samples:
        start = samples.last(one.id)
        assert start is not None
        until(lambda: (samples.last(one.id) or start).time > start.time, what="another scrape")
        last = samples.last(one.id)
    assert last is not None
    assert last.number("running") == 0
    return last.time


def answered(instance: int, since: float) -> float:
    """First tokens that the engine counted after `since`."""
    with Samples(settings().samples) as samples:
        last = samples.last(instance)
        assert last is not None
        return summary(samples.between(instance, since, last.time)).latency["ttft"].count


def test_two_ranks_of_a_random_deepseek(ready: RunningConsole, browser: Browser, page: Page) -> None:
    """Started from the Launch page; it becomes ready, and nobody takes its words for answers."""
    page.goto(ready.link)
    page.goto(f"{ready.address}/launch?model={ready.folder}/models/tiny-deepseek-random")
    expect(page.get_by_text("This model has random weights").first).to_be_visible()
    page.get_by_text("More settings").click()
    ranks = page.get_by_role("spinbutton", name="Tensor parallel")
    ranks.fill("2")
    ranks.press("Enter")
    expect(page.get_by_test_id("stCode").last).to_contain_text("--tensor-parallel-size 2")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/instance\?instance=2"))
    until(lambda: instances.instance(2).state in (State.ready, State.failed, State.unwell), LONGEST_S, "a verdict")
    one = instances.instance(2)
    assert (one.state, one.spec.tensor_parallel, one.noise) == (State.ready, 2, True)
    expect(page.get_by_text("● ready")).to_be_visible()
    page.goto(f"{ready.address}/playground?instance=2")
    expect(page.get_by_text(re.compile("has random weights: it produces words, and they mean nothing"))).to_be_visible()
    with EngineClient(f"http://{one.address}") as client:
        stream = client.chat_stream(one.spec.served_name, [{"role": "user", "content": "Hello"}], max_tokens=8)
        assert sum(1 for chunk in stream if chunk.text) >= 1


def test_stopping_all_leaves_no_process(ready: RunningConsole) -> None:
    folders = [Path(instances.attempts(one.id)[0].folder) for one in instances.instances()]
    assert all(session_of(folder) for folder in folders)
    ended = ready.run("stop", "--all", "--json")
    assert ended.returncode == 0, ended.stderr
    assert len(json.loads(ended.stdout)["stopped"]) == len(folders)
    assert [session_of(folder) for folder in folders] == [[]] * len(folders)
    words = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in processes(ready.folder)]
    assert [word for word in words if b"vllm" in word.lower()] == []
