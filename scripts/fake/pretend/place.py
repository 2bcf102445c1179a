"""Where things are on a rehearsal host, and what is remembered there between two programs.

REHEARSAL_ROOT puts another folder in the place of `/`, for tests without a mount namespace. One probe starts these
programs a hundred times, so this module and those of npu-smi import only what costs next to nothing: no dataclasses,
no typing, and pathlib where it is first needed.
"""
# ruff: noqa: PTH103, PTH105, PTH118, PTH120

from __future__ import annotations

import fcntl
import json
import os
import sys
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    Data = dict[str, Any]
else:
    Data = dict

FAKE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
RUNNER = f"{FAKE}/pretend/run"
MEMORY = "/var/lib/rehearsal"
"""Kept over restarts."""
RUN = "/run/rehearsal"
"""New at each boot."""


def where(path: str) -> str:
    """The place of an absolute path of the rehearsal host."""
    return os.environ.get("REHEARSAL_ROOT", "").rstrip("/") + path


def at(path: str) -> Path:
    """The same, as a Path."""
    from pathlib import Path

    return Path(where(path))


def read(name: str, folder: str = MEMORY) -> Data:
    """What is remembered under this name; nothing yet is an empty dictionary."""
    try:
        with open(where(f"{folder}/{name}.json")) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


@contextmanager
def changing(name: str, folder: str = MEMORY) -> Iterator[Data]:
    """The same, to be changed in place; written when the block ends well. Others wait meanwhile."""
    with alone(name, folder):
        data = read(name, folder)
        yield data
        write(name, data, folder)


@contextmanager
def alone(name: str, folder: str = MEMORY) -> Iterator[None]:
    os.makedirs(where(folder), exist_ok=True)
    with open(where(f"{folder}/.{name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write(name: str, data: Data, folder: str = MEMORY) -> None:
    part = where(f"{folder}/.{name}.{os.getpid()}")
    with open(part, "w") as file:
        json.dump(data, file, indent=1)
    os.replace(part, where(f"{folder}/{name}.json"))


def scenario() -> Data:
    """What this host plays. Ends the program on a machine that is no rehearsal host: nothing may be changed there."""
    found = read("scenario")
    if not found:
        sys.exit("This program is simulated. It runs on a rehearsal host only.")
    return found


def put(path: str, text: str, mode: int = 0o644) -> None:
    """A whole file, with its folders."""
    file = at(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_symlink() or (file.exists() and not file.is_file()):
        file.unlink()
    file.write_text(text)
    file.chmod(mode)


def link(path: str, target: str) -> None:
    """A symbolic link, in the place of what was there."""
    file = at(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_symlink() or file.exists():
        file.unlink()
    file.symlink_to(target)


def real(name: str) -> str | None:
    """The machine's own program of this name, past the simulated ones."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        program = os.path.join(folder or ".", name)
        if os.path.realpath(program) != RUNNER and os.access(program, os.X_OK):
            return program
    return None


def become(name: str, words: list[str]) -> int:
    """Go on as the machine's own program; for what is not simulated."""
    program = real(name)
    if program is None:
        print(f"{name}: command not found", file=sys.stderr)
        return 127
    sys.stdout.flush()
    os.execv(program, [name, *words])
    return 126
