"""What this machine lacks for rehearsal hosts is said before anything is made."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from console.errors import HostError
from console.hosts import inventory, rehearsal, rehearsal_life, rehearsal_needs
from tests.hosts.rehearsed import SCENARIO

pytestmark = pytest.mark.needs("sshd", "unshare", "nsenter")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts a shell script in front of the program of that name."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def put(name: str, script: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    return put


def test_a_missing_program_is_named_with_its_package(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match=r"no \w+ on this machine.*util-linux"):
        rehearsal.create(SCENARIO, actor="test")
    assert inventory.hosts() == []


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [
        ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
        ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "kernel.apparmor_restrict_unprivileged_userns=0"),
        ("user/max_user_namespaces", "9000", "run the console on the machine itself"),
    ],
)
def test_what_forbids_namespaces_is_named(
    tmp_path: Path, program: Callable[[str, str], None], setting: str, value: str, says: str
) -> None:
    program("unshare", "echo 'unshare failed: Operation not permitted' >&2; exit 1")
    (tmp_path / setting).parent.mkdir()
    (tmp_path / setting).write_text(f"{value}\n")
    with pytest.raises(HostError) as raised:
        rehearsal_needs.try_namespaces(rehearsal_needs.programs()["unshare"], tmp_path)
    assert says in str(raised.value)
    assert "Operation not permitted" in str(raised.value)


def test_one_that_does_not_come_up_says_why_and_leaves_nothing(data: Path, program: Callable[[str, str], None]) -> None:
    program("unshare", 'case "$*" in *rehearsal_root*) echo "mount overlay at /usr: no" >&2; exit 1 ;; esac')
    with pytest.raises(HostError, match=r"mount overlay at /usr: no.*ext4"):
        rehearsal.create(SCENARIO, actor="test")
    assert [one.name for one in inventory.hosts()] == ["local"]
    assert rehearsal_life.leftovers([]) == []


def test_a_disk_without_room_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="MiB are free"):
        rehearsal_needs.room(tmp_path, least=2**62)
