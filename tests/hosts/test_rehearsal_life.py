"""Rehearsal hosts made, killed, rebooted, stopped and removed."""

import os
import secrets
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace

import pytest

from console.errors import Conflict, HostError, InvalidInput, NotFound
from console.hosts import inventory, known_hosts, rehearsal, rehearsal_life, trial
from console.hosts.inventory import Host
from console.hosts.process import Detached, Life
from console.hosts.rehearsal_life import State
from tests.hosts.rehearsed import (
    SCENARIO,
    boot,
    first_process,
    host,
    keeper,
    make,
    possible,
    run,
    until,
    up_again,
    with_words,
)

__all__ = ["host", "make", "possible"]
pytestmark = pytest.mark.needs("sshd", "unshare", "nsenter")


def test_nothing_is_left_of_a_removed_one(host: Host) -> None:
    assert host.reach is not None
    mark, folder = f"sleep {secrets.randbelow(10**6) + 10**6}.5", rehearsal_life.folder(host.id)
    Detached(inventory.runner(host), f"{host.work_folder}/a").start(mark)
    run(host, "mkdir -p /opt/deep/er && chmod 000 /opt/deep")
    assert len(with_words(mark.replace(" ", "\0"))) == 1
    inventory.remove_host(host.id, actor="test")
    assert with_words(mark.replace(" ", "\0")) == []
    assert with_words(str(folder)) == []
    assert not folder.exists()
    assert known_hosts.accepted(host.reach.address, host.reach.port) == []
    assert rehearsal_life.leftovers([]) == []
    with socket.socket() as one:
        assert one.connect_ex((host.reach.address, host.reach.port)) != 0


def test_when_its_first_process_is_killed_it_comes_again_when_it_is_wanted(host: Host) -> None:
    before = boot(host)
    run(host, "echo kept > /opt/kept; echo lost > /tmp/lost")
    goes_on = Detached(inventory.runner(host), f"{host.work_folder}/a")
    goes_on.start("sleep 4321")
    os.kill(first_process(host), signal.SIGKILL)
    until(lambda: rehearsal_life.state(host.id) == State.DOWN, "its end")
    assert run(host, "cat /opt/kept; ls /tmp") == "kept"
    assert boot(host) != before
    assert Detached(inventory.runner(host), goes_on.folder).look().life == Life.GONE


def test_when_its_keeper_is_killed_what_that_left_is_ended_first(host: Host) -> None:
    before, server = boot(host), with_words(str(rehearsal_life.folder(host.id) / "sshd_config"))
    os.kill(keeper(host), signal.SIGKILL)
    until(lambda: rehearsal_life.state(host.id) == State.DOWN, "its end")
    assert boot(host) != before
    assert not set(server) & set(with_words(str(rehearsal_life.folder(host.id) / "sshd_config")))


def test_the_worker_brings_up_those_that_should_be_up_and_deletes_leftovers(make: Callable[..., Host]) -> None:
    fallen, stopped = make("fallen"), make("stopped")
    rehearsal.stop(stopped, actor="test")
    os.kill(first_process(fallen), signal.SIGKILL)
    until(lambda: rehearsal_life.state(fallen.id) == State.DOWN, "its end")
    rehearsal_life.folder(999).mkdir()
    rehearsal.bring_up()
    assert rehearsal_life.state(fallen.id) == State.UP
    assert rehearsal_life.state(stopped.id) == State.STOPPED
    assert not rehearsal_life.folder(999).exists()


def test_a_reboot_ends_everything_refuses_for_a_while_and_keeps_the_disk(host: Host) -> None:
    before = boot(host)
    run(host, "echo kept > /opt/kept")
    Detached(inventory.runner(host), f"{host.work_folder}/a").start("sleep 4321")
    run(host, "touch /run/rehearsal/reboot-wanted")
    until(lambda: rehearsal_life.state(host.id) == State.REBOOTING, "the reboot")
    with pytest.raises(HostError):
        run(host, "true")
    up_again(host, before)
    assert run(host, "cat /opt/kept") == "kept"
    assert "sleep 4321" not in run(host, "ps -e -o args=")


def test_two_at_once_know_nothing_of_each_other(make: Callable[..., Host]) -> None:
    one, other = make("one"), make("other")
    assert one.reach is not None
    assert other.reach is not None
    assert one.reach.port != other.reach.port
    run(one, "echo one > /etc/who")
    assert run(other, "cat /etc/who 2>/dev/null || echo nobody") == "nobody"
    inventory.remove_host(other.id, actor="test")
    assert run(one, "cat /etc/who") == "one"


def test_four_rapid_clicks_make_one(make: Callable[..., Host]) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = {each.result().id for each in [pool.submit(make) for _ in range(4)]}
    assert len(made) == 1
    assert [one.name for one in inventory.hosts()] == ["local", SCENARIO]
    folder = str(rehearsal_life.folder(made.pop()))
    assert len(set(with_words("rehearsal_keeper")) & set(with_words(folder))) == 1


def test_a_stopped_one_stays_stopped_until_it_is_started(host: Host) -> None:
    run(host, "echo kept > /opt/kept")
    rehearsal.stop(host, actor="test")
    with pytest.raises(HostError, match="is stopped"):
        inventory.runner(host)
    with pytest.raises(HostError, match="is stopped"):
        trial.try_host(host)
    rehearsal.start(host, actor="test")
    assert run(host, "cat /opt/kept") == "kept"


def test_it_moves_to_another_port_when_its_own_is_taken_meanwhile(host: Host) -> None:
    assert host.reach is not None
    rehearsal.stop(host, actor="test")
    with ExitStack() as taking:
        with suppress(OSError):  # or something else was as quick
            taking.enter_context(socket.create_server((host.reach.address, host.reach.port)))
        moved = rehearsal.start(host, actor="test")
        assert moved.reach is not None
        assert moved.reach.port != host.reach.port
        assert inventory.host(host.id) == moved
        assert run(moved, "id -u") == "0"


def test_a_name_of_another_host_and_an_unknown_scenario_are_refused(make: Callable[..., Host]) -> None:
    with pytest.raises(NotFound, match=SCENARIO):
        make("one", "no-such-scenario")
    make("one")
    with pytest.raises(Conflict, match="another one"):
        make("one", "no-sudo")


def test_the_console_alone_decides_how_it_is_reached(host: Host) -> None:
    assert host.reach is not None
    with pytest.raises(InvalidInput):
        inventory.edit_host(host.id, host.name, replace(host.reach, port=22), actor="test")
    assert inventory.edit_host(host.id, "renamed", host.reach, actor="test").scenario == SCENARIO
    with pytest.raises(InvalidInput):
        rehearsal.stop(inventory.this_machine(), actor="test")
