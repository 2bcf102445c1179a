"""Whose programs run on a host is read from one of them, and only else from what the host calls itself."""

import os
from pathlib import Path

import pytest

from console.hosts import inventory
from console.hosts.programs import machine_name


def program(folder: Path, name: str, body: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("head", "called", "machine"),
    [
        ("echo '    62'", "aarch64", "x86_64"),  # a host that plays another
        ("echo '   183'", "x86_64", "aarch64"),
        ("echo '    40'", "aarch64", "arm"),  # 32-bit programs on a 64-bit kernel
        ("exit 1", "aarch64", "aarch64"),  # no od there
    ],
)
def test_what_runs_counts_more_than_a_name(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: str, called: str, machine: str
) -> None:
    program(tmp_path, "od", head)
    program(tmp_path, "uname", f"echo {called}")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert machine_name(inventory.this_machine()) == machine


def test_this_machine_is_what_it_is(data: Path) -> None:
    assert machine_name(inventory.this_machine()) == os.uname().machine
