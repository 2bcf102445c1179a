"""By what the pilot of a host is judged: decided by the cards on its bus, and by a person where there is none."""

import time

import pytest

from console.hosts import inventory, kept
from console.hosts.inventory import Host
from console.hosts.observe import LOCAL_PROFILE, REMOTE_PROFILE, Raw
from console.hosts.reach import Reach
from console.jobs import history, jobs, path
from console.jobs.ways import choose_cpu, way_of

CARD = "0000:c1:00.0 0x19e5 0xd802 0x120000\n"


@pytest.fixture
def remote(host: Host) -> Host:
    return inventory.add_host("gpu1", Reach("10.0.0.5"), actor="me")


def said(host: Host, bus: str, *, late: bool = False) -> None:
    kept.keep(host.id, [Raw("npu_pci", bus, None if late else 0, 0.1, late)], time.time(), actor="me")


def test_this_machine_computes_on_its_cpu(host: Host) -> None:
    way = way_of(host)
    assert (way.profile, way.question) == (LOCAL_PROFILE, None)


def test_a_host_that_was_never_asked_is_taken_for_one_with_npus(remote: Host) -> None:
    assert (way_of(remote).profile, way_of(remote).question) == (REMOTE_PROFILE, None)
    said(remote, "", late=True)
    assert way_of(remote).question is None, "what was not told in time is not the same as none"


def test_without_a_card_on_the_bus_a_person_decides(remote: Host) -> None:
    said(remote, "")
    assert way_of(remote).profile == REMOTE_PROFILE
    assert "gpu1" in str(way_of(remote).question)
    choose_cpu(remote.id, actor="ann")
    assert (way_of(remote).profile, way_of(remote).question) == (LOCAL_PROFILE, None)
    assert [(event.actor, event.became) for event in history.events(f"host:{remote.id}", 1)] == [("ann", "on its CPU")]


def test_cards_that_appear_later_count_more_than_the_choice(remote: Host) -> None:
    said(remote, "")
    choose_cpu(remote.id, actor="ann")
    said(remote, CARD)
    assert (way_of(remote).profile, way_of(remote).question) == (REMOTE_PROFILE, None)


def test_every_way_names_a_backend_there_is(host: Host, remote: Host) -> None:
    from console.serving.backends import names

    assert {way_of(one).backend for one in (host, remote)} <= set(names())


def test_the_choice_of_one_host_is_not_that_of_another(remote: Host) -> None:
    other = inventory.add_host("gpu2", Reach("10.0.0.6"), actor="me")
    said(remote, "")
    said(other, "")
    choose_cpu(remote.id, actor="ann")
    assert way_of(other).question is not None


def test_a_check_alone_asks_nobody(remote: Host) -> None:
    job = history.job(path.start("check", remote.id, actor="me"))
    assert job.then == ()
    jobs.cancel(job.id, actor="me")
    assert history.job(path.start_pilot(remote.id, actor="me")).then == path.PILOT[1:]
