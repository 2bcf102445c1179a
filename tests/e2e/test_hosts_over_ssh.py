"""A person enters a host in the browser, accepts its key, and has the worker check it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from console.hosts import inventory, known_hosts, observe
from tests.hosts.sshd import Sshd
from tests.running import RunningConsole, opened, until

pytestmark = [pytest.mark.e2e, pytest.mark.needs("chromium", "sshd", "ssh-keygen")]


@pytest.fixture
def console(tmp_path: Path) -> Iterator[RunningConsole]:
    one = RunningConsole(tmp_path / "data")
    one.start()
    yield one
    one.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    one = Sshd(tmp_path / "sshd").start()
    yield one
    one.stop()


def test_from_entering_a_host_to_its_checklist(console: RunningConsole, server: Sshd, page: Page) -> None:
    page.goto(console.link)
    page.goto(f"{console.address}/hosts")
    page.get_by_text("Add a host").click()
    reach = server.reach()
    page.locator(".st-key-add-host").get_by_label("Name", exact=True).fill("gpu1")
    page.get_by_label("Address", exact=True).fill(reach.address)
    page.get_by_label("Port", exact=True).fill(str(reach.port))
    page.get_by_label("User", exact=True).fill(reach.user)
    page.get_by_label("Key file on this machine").fill(reach.key_file)
    page.get_by_role("button", name="Save and test").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(server.host_key().fingerprint)
    dialog.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text("It answers:")).to_be_visible()
    expect(dialog).to_have_count(0)
    with opened(console.folder):
        host = inventory.named("gpu1")
        assert known_hosts.accepted(reach.address, reach.port) == [server.host_key()]
        page.goto(f"{console.address}/checklist?host={host.id}")
        page.get_by_role("button", name="Check now").click()
        until(lambda: observe.latest(host) is not None, what="the probe of gpu1")
    expect(page.get_by_text("Operating system", exact=True)).to_be_visible()
