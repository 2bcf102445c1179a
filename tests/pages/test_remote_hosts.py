"""Hosts over SSH on the pages: entered, tried, accepted, changed, removed, and chosen on the Checklist."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from console.hosts import inventory, known_hosts, observe
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.jobs import history
from tests.hosts.conftest import MakeSshd, sshd
from tests.hosts.sshd import Sshd
from tests.pages.page import calm, in_language, keys, opened, press, said

__all__ = ["sshd"]
pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]


def fill(page: AppTest, server: Sshd, name: str = "gpu1") -> AppTest:
    """The form for a new host, filled in and sent."""
    reach = server.reach()
    for part, value in {"name": name, "address": reach.address, "user": reach.user, "key": reach.key_file}.items():
        page.text_input(key=f"new-{part}").set_value(value)
    page.text_input(key="new-tags").set_value("rack-1")
    page.number_input(key="new-port").set_value(reach.port)
    page.checkbox(key="new-agent").set_value(False)
    send = next(one for one in page.button if one.label == "Save and test")
    return calm(send.click().run())


@pytest.fixture
def remote(data: Path) -> Host:
    inventory.this_machine()
    return inventory.add_host("gpu1", Reach("10.0.0.5", 2222, "ops"), tags=["npu"], actor="me")


def test_a_host_is_entered_and_its_key_accepted_by_a_person(host: Host, sshd: MakeSshd) -> None:
    server = sshd(trust=False)
    page = fill(opened("hosts"), server)
    assert inventory.named("gpu1").reach == server.reach()
    shown = said(page)
    assert f"ssh-ed25519 {server.host_key().fingerprint}" in shown
    assert known_hosts.accepted(server.address, server.port) == []
    new = inventory.named("gpu1").id
    page = press(page, f"accept-{new}")
    assert known_hosts.accepted(server.address, server.port) == [server.host_key()]
    assert "It answers:" in said(page)
    assert f"accept-{new}" not in keys(page)


def test_a_key_that_is_not_accepted_stays_unknown(host: Host, sshd: MakeSshd) -> None:
    server = sshd(trust=False)
    page = fill(opened("hosts"), server)
    page = press(page, f"reject-{inventory.named('gpu1').id}")
    assert known_hosts.accepted(server.address, server.port) == []
    assert "SHA256" not in said(page)


def test_a_changed_key_is_a_plain_warning_until_a_person_forgets_the_old_one(host: Host, sshd: MakeSshd) -> None:
    server = sshd()
    page = fill(opened("hosts"), server)
    new = inventory.named("gpu1").id
    server.stop()
    server.new_host_key()
    server.start()
    page = press(page, f"try-{new}")
    assert "HAS CHANGED" in " ".join(one.value for one in page.error)
    assert page.button(key=f"forget-{new}").disabled
    page.checkbox(key=f"sure-{new}").check()
    calm(page.run())
    page = press(page, f"forget-{new}")
    page = press(page, f"accept-{new}")
    assert "It answers:" in said(page)


def test_what_is_wrong_in_the_form_is_said_and_nothing_is_entered(host: Host, sshd: MakeSshd) -> None:
    page = fill(opened("hosts"), sshd(), name="a b")
    assert "is no name for a host" in " ".join(one.value for one in page.error)
    assert [one.name for one in inventory.hosts()] == ["local"]
    assert page.text_input(key="new-name").value == "a b"


def test_a_host_is_edited(remote: Host) -> None:
    page = press(opened("hosts"), f"change-{remote.id}")
    page.text_input(key=f"{remote.id}-jumps").set_value("me@127.0.0.1:1")
    save = [one for one in page.button if one.label == "Save and test"][-1]
    page = calm(save.click().run())
    reach = inventory.host(remote.id).reach
    assert reach is not None
    assert [str(hop) for hop in reach.hops] == ["me@127.0.0.1:1", "ops@10.0.0.5:2222"]
    assert "breaks at jump host 1 of 1" in " ".join(one.value for one in page.error).replace("\\", "")


def test_a_host_is_removed_after_one_more_question(remote: Host) -> None:
    page = press(opened("hosts"), f"remove-{remote.id}")
    assert "Remove gpu1?" in said(page)
    page = press(page, "keep-host")
    assert "gpu1" in [one.name for one in inventory.hosts()]
    page = press(page, f"remove-{remote.id}")
    press(page, "really-remove")
    assert [one.name for one in inventory.hosts()] == ["local"]


def test_all_hosts_are_looked_at_side_by_side(remote: Host) -> None:
    press(opened("hosts"), "probe-all")
    assert sorted((one.kind, one.host_id) for one in history.jobs()) == [("check", 1), ("check", remote.id)]


def test_hosts_are_filtered_by_tag(remote: Host) -> None:
    inventory.add_host("gpu2", Reach("10.0.0.6"), actor="me")
    page = opened("hosts", tag="npu")
    assert [one.value for one in page.subheader] == ["gpu1"]


def test_the_checklist_is_that_of_the_host_in_the_address(remote: Host, sshd: MakeSshd) -> None:
    page = opened("checklist", host=remote.id)
    assert "gpu1 has not been checked yet" in said(page)
    press(page, "check-now")
    assert [(one.kind, one.host_id) for one in history.jobs()] == [("check", remote.id)]
    server = sshd()
    other = inventory.add_host("gpu2", server.reach(), actor="me")
    observe.probe(other, actor="me")
    checked = observe.judged(other)
    assert checked is not None
    page = opened("checklist", host=other.id)
    assert sum(key.startswith("again-") for key in keys(page)) == len(checked.judged)
    page.selectbox(key="chosen-host").set_value(remote.id).run()
    assert str(remote.id) in page.query_params["host"]
    assert not any(key.startswith("again-") for key in keys(opened("checklist", host=999)))


def test_a_page_with_hosts_opens_in_both_languages(remote: Host, lang: str) -> None:
    for name in ("hosts", "checklist"):
        in_language(opened(name, lang=lang), lang)
