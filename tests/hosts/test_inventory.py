"""Hosts in the inventory: entered, changed, removed, and what stands in the way."""

import time
from pathlib import Path

import pytest
from sqlalchemy import select

from console.errors import Conflict, InvalidInput, NotFound
from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.journal import Recorded
from console.hosts.local import LocalRunner
from console.hosts.reach import Jump, Reach
from console.hosts.ssh import SshRunner
from console.jobs import history, jobs
from console.plans.step import Step
from console.records import reading, writing
from console.text import verbatim
from db import models

REACH = Reach("10.0.0.5", 2222, "ops", "/keys/id", False, (Jump("gate", 22, "me"),))


@pytest.fixture
def host(data: Path) -> Host:
    return inventory.add_host("gpu1", REACH, tags=["rack-1, npu", "npu"], actor="me")


def instance(host: Host, state: str) -> None:
    with writing() as session:
        session.add(
            models.Instance(
                host_id=host.id,
                name=f"one-{state}",
                backend="local_cpu",
                spec="{}",
                noise=False,
                wish="down",
                state=state,
                attempt=0,
                health="{}",
                created=time.time(),
            )
        )


def job(host: Host) -> int:
    step = Step("one", verbatim("one"), script="true")
    return jobs.enqueue("test", f"host:{host.id}", host.id, verbatim("one"), [step], actor="me")


def test_what_was_entered_is_there(host: Host) -> None:
    assert [one.name for one in inventory.hosts()] == ["local", "gpu1"]
    assert inventory.named("gpu1") == host == inventory.host(host.id)
    assert (host.kind, host.reach, host.tags, host.work_folder) == (
        "ssh",
        REACH,
        ("npu", "rack-1"),
        "/home/ops/ascend-pilot",
    )
    assert [event.became for event in history.events(subject=f"host:{host.id}")] == ["created"]


def test_each_kind_of_host_has_its_runner(host: Host) -> None:
    local, remote = inventory.runner(inventory.this_machine()), inventory.runner(host)
    assert isinstance(local, Recorded)
    assert isinstance(local.runner, LocalRunner)
    assert isinstance(remote, Recorded)
    assert isinstance(remote.runner, SshRunner)
    assert remote.runner.reach == REACH


def test_a_name_is_taken_once(host: Host) -> None:
    for name in ("gpu1", "local", " gpu1 "):
        with pytest.raises(Conflict):
            inventory.add_host(name, REACH, actor="me")
    other = inventory.add_host("gpu2", REACH, actor="me")
    with pytest.raises(Conflict):
        inventory.edit_host(other.id, "gpu1", REACH, actor="me")
    assert inventory.edit_host(host.id, "gpu1", REACH, tags=["a"], actor="me").tags == ("a",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "a b"},
        {"name": "a#1"},
        {"name": "-a"},
        {"tags": ["a;b"]},
        {"work_folder": "pilot"},
        {"work_folder": "~/x"},
    ],
)
def test_what_cannot_work_is_refused(data: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        inventory.add_host(**{"name": "gpu1", "reach": REACH, "actor": "me"} | wrong)  # type: ignore[arg-type]
    assert [one.name for one in inventory.hosts()] == ["local"]


def test_a_changed_host_is_reached_in_the_new_way(host: Host) -> None:
    changed = inventory.edit_host(host.id, "gpu-one", Reach("10.0.0.6"), work_folder="/data/pilot/", actor="me")
    assert inventory.named("gpu-one") == changed
    assert (changed.id, changed.reach, changed.tags, changed.work_folder) == (
        host.id,
        Reach("10.0.0.6"),
        (),
        "/data/pilot",
    )


@pytest.mark.parametrize("state", ["starting", "ready", "unwell", "failed", "lost", "stopping"])
def test_a_host_with_an_instance_that_is_not_stopped_stays(host: Host, state: str) -> None:
    instance(host, state)
    with pytest.raises(Conflict, match=f"one-{state}"):
        inventory.remove_host(host.id, actor="me")
    with pytest.raises(Conflict):
        inventory.edit_host(host.id, "gpu1", Reach("elsewhere"), actor="me")
    assert inventory.edit_host(host.id, "other-name", REACH, actor="me").name == "other-name"


def test_a_host_with_a_job_at_work_stays(host: Host) -> None:
    number = job(host)
    with pytest.raises(Conflict, match=f"Job {number}"):
        inventory.remove_host(host.id, actor="me")
    jobs.cancel(number, actor="me")
    inventory.remove_host(host.id, actor="me")


def test_a_removed_host_is_gone_but_its_history_is_not(host: Host) -> None:
    instance(host, "stopped")
    number = job(host)
    jobs.cancel(number, actor="me")
    inventory.remove_host(host.id, actor="me")
    assert [one.name for one in inventory.hosts()] == ["local"]
    with pytest.raises(NotFound):
        inventory.named("gpu1")
    for act in (
        lambda: inventory.remove_host(host.id, actor="me"),
        lambda: inventory.edit_host(host.id, "a", REACH, actor="me"),
    ):
        with pytest.raises(NotFound):
            act()
    assert history.job(number).host_id == host.id
    assert inventory.host(host.id).name.startswith("gpu1")
    with reading() as session:
        assert list(session.scalars(select(models.Instance))) == []
    again = inventory.add_host("gpu1", REACH, actor="me")
    assert again.id != host.id
    inventory.remove_host(again.id, actor="me")


def test_this_machine_is_neither_changed_nor_removed(data: Path) -> None:
    local = inventory.this_machine()
    with pytest.raises(InvalidInput):
        inventory.remove_host(local.id, actor="me")
    with pytest.raises(InvalidInput):
        inventory.edit_host(local.id, "other", REACH, actor="me")
