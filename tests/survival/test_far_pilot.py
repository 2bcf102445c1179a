"""The whole pilot on a host over SSH, with the pretended engine: asked, installed, served, tried, measured, cut off."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from console.hosts import connection, inventory
from console.hosts.inventory import Host
from console.jobs import history, jobs, path
from console.jobs.timeline import timeline
from console.metrics.store import Samples
from console.serving import instances, launch
from console.serving.client import EngineClient
from console.serving.spec import ServeSpec
from console.serving.state import State
from console.settings import settings
from tests.hosts.sshd import Sshd
from tests.pretended_machine import pretend
from tests.running import RunningConsole, opened, session_of, until

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.needs("sshd", "ssh-keygen")]
KINDS = ["check", "install", "start", "try", "measure"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    one = Sshd(tmp_path / "sshd").start()
    yield one
    one.stop()


@pytest.fixture
def console(tmp_path: Path) -> Iterator[RunningConsole]:
    """Its own data folder has no runtime and no models: they are on the host alone."""
    one = RunningConsole(tmp_path / "data")
    with opened(one.folder):
        yield one
        one.close()
        for reach in list(connection._connections):
            connection.forget(reach)


@pytest.fixture
def far(console: RunningConsole, server: Sshd, tmp_path: Path) -> Iterator[Host]:
    """A host with an installed runtime in a work folder of its own; what is left on it ends with the test."""
    pretend(tmp_path / "far")
    inventory.this_machine()
    server.trust()
    yield inventory.add_host("gpu1", server.reach(), work_folder=str(tmp_path / "far"), actor="me")
    server.stop()
    leftover = RunningConsole(tmp_path / "far")
    leftover.close()


def walked(host: Host) -> None:
    """The pilot from its start to its end, with yes to the question of a host without NPUs."""
    path.start_pilot(host.id, actor="me")
    until(lambda: history.jobs(1)[0].state == "waiting" or not history.active_count(), what="the question")
    (asked,) = history.jobs(host_id=host.id)
    assert asked.question is not None, asked.reason
    assert "No NPU was seen on the PCI bus of gpu1" in str(asked.question)
    jobs.answer(asked.id, "yes", actor="me")
    until(lambda: history.jobs(1)[0].kind == "measure" or not history.active_count(), what="the last job")
    until(lambda: not history.active_count(), what="the end of the pilot")
    done = history.jobs(host_id=host.id)[::-1]
    assert [(job.kind, job.state, str(job.reason)) for job in done] == [(kind, "succeeded", "None") for kind in KINDS]


def test_the_pilot_of_a_host_over_ssh(console: RunningConsole, far: Host, server: Sshd) -> None:
    console.start()
    walked(far)
    (one,) = instances.instances()
    assert (one.host_id, one.state) == (far.id, State.ready)
    assert one.address != f"127.0.0.1:{one.spec.port}", "through a tunnel"
    assert one.spec.model_folder.startswith(far.work_folder)
    assert Path(instances.attempts(one.id)[0].folder).is_relative_to(far.work_folder)
    with Samples(settings().samples) as samples:
        assert samples.last(one.id) is not None
    known = timeline(far)
    assert known.to_answer_s is not None
    assert [span.name for span in known.spans if span.done is None] == []
    told = "Application startup complete"
    until(lambda: told in (console.folder / "logs" / "instances" / "1" / "1.log").read_text(), what="its log")

    server.stop()
    until(lambda: instances.instance(one.id).state == State.lost, what="the loss of the host")
    until(lambda: "cannot be reached" in str(instances.instance(one.id).reason), what="the reason")
    server.start()
    until(lambda: instances.instance(one.id).state == State.ready, what="its return")
    assert len(instances.attempts(one.id)) == 1
    with EngineClient(f"http://{one.address}") as client:  # the tunnel of this process was cut too
        assert client.models() == [one.spec.served_name]

    server.stop()
    until(lambda: instances.stored(one.id).state == State.lost, what="the loss of the host")  # type: ignore[union-attr]
    instances.wish_down(one.id, actor="me")
    server.start()
    until(lambda: instances.instance(one.id).state == State.stopped, what="its end, late but sure")
    assert session_of(Path(instances.attempts(one.id)[0].folder)) == []


def test_a_server_with_a_key_on_a_host_over_ssh(console: RunningConsole, far: Host) -> None:
    console.start()
    model = launch.models_on(far)[0]
    now = launch.machine(far)
    made = launch.defaults(model, now, model.folder)
    spec = ServeSpec(**{**made.__dict__, "api_key": True})
    number = instances.create(far.id, spec, noise=model.noise, actor="me")
    path.queue(path.start_instance(number), "start", far.id, actor="me")
    until(lambda: instances.instance(number).state == State.ready, what="a ready instance")
    one = instances.instance(number)
    key = launch.api_key(one)
    assert key
    kept = Path(far.work_folder) / "keys" / f"{number}.env"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert key in kept.read_text()
    scripts = [file.read_bytes() for file in Path(instances.attempts(number)[0].folder).glob("*.sh")]
    assert scripts
    assert not any(key.encode() in script for script in scripts)
    with EngineClient(f"http://{one.address}", key) as client:
        assert client.models() == [one.spec.served_name]
    assert [str(each.reason) for each in launch.reasons_against(far, spec)] != [], "its port is in use there now"
    ended = console.run("stop", "--all")
    assert ended.returncode == 0, ended.stderr


def test_the_command_line_walks_a_host_over_ssh(console: RunningConsole, far: Host) -> None:
    console.start()
    again = console.run("run", "--host", "gpu1", "--yes", "--json")
    assert again.returncode == 0, again.stdout + again.stderr
    said = json.loads(again.stdout)
    assert said["succeeded"]
    assert "Paris" in said["answer"]
    assert [job["kind"] for job in said["jobs"]] == KINDS
    assert console.run("stop", "--all").returncode == 0


@pytest.mark.needs("chromium")
def test_home_and_the_pages_of_a_host_over_ssh(console: RunningConsole, far: Host, page: Page) -> None:
    console.start()
    walked(far)
    page.goto(console.link)
    hosts = page.locator(".st-key-host-list")
    hosts.get_by_role("link", name="gpu1").click()
    expect(page.get_by_role("heading", name="Pilot on gpu1")).to_be_visible()
    expect(page.get_by_text("Bare host to first answer:")).to_be_visible()
    page.get_by_role("link", name="Talk to the model").click()
    question = page.get_by_test_id("stChatInputTextArea")
    question.fill("What is the capital of France?")
    question.press("Enter")
    expect(page.get_by_text("The capital of France is Paris.").last).to_be_visible()
    expect(page.get_by_text(re.compile(r"first token after \d+ ms"))).to_be_visible()
    page.goto(f"{console.address}/monitor?instance=1&host={far.id}&stage=measure")
    page.get_by_role("link", name="Back to the pilot on gpu1").click()
    expect(page.locator(".st-key-walk")).to_contain_text("Measure")
    assert console.run("stop", "--all").returncode == 0
