"""Rehearsal hosts for tests: made for one test, gone after it, with what tests ask of them."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from console.errors import HostError
from console.hosts import inventory, rehearsal, rehearsal_life, rehearsal_needs
from console.hosts.inventory import Host

SCENARIO = "two-healthy-910b4"
PATIENCE_S = 90.0


@pytest.fixture
def possible(data: Path) -> None:
    try:
        rehearsal_needs.try_namespaces(rehearsal_needs.programs()["unshare"])
    except HostError as error:
        pytest.skip(str(error))


@pytest.fixture
def make(possible: None) -> Iterator[Callable[..., Host]]:
    """Makes rehearsal hosts that end with the test."""

    def one(name: str = "", scenario: str = SCENARIO) -> Host:
        return rehearsal.create(scenario, name, actor="test")

    yield one
    for host in inventory.hosts():
        if host.scenario is not None:
            inventory.remove_host(host.id, actor="test")


@pytest.fixture
def host(make: Callable[..., Host]) -> Host:
    return make()


def run(host: Host, script: str) -> str:
    outcome = inventory.runner(host).run(script)
    assert outcome.code == 0, outcome
    return outcome.out.strip()


def until(seen: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not seen():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.1)


def up_again(host: Host, old_boot: str) -> None:
    """Wait until the host answers from another boot than `old_boot`."""

    def seen() -> bool:
        with suppress(HostError):
            return boot(host) != old_boot
        return False

    until(seen, "another boot")


def boot(host: Host) -> str:
    return run(host, "cat /proc/sys/kernel/random/boot_id")


def with_words(words: str) -> list[int]:
    """Processes of this machine with `words` in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if words.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(int(path.parent.name))
    return found


def keeper(host: Host) -> int:
    return int((rehearsal_life.folder(host.id) / "keeper.lock").read_text())


def first_process(host: Host) -> int:
    """The host's process 1, by its number outside."""
    return int((rehearsal_life.folder(host.id) / "init").read_text().split()[0])
