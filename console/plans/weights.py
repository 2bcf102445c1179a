"""Getting a model from a hub onto a host, as steps: list its files, fetch what is missing, look through the result."""

import functools
import shlex
from pathlib import Path

from console.errors import InvalidInput
from console.hosts.transfer_scripts import COMMON
from console.plans.step import Step
from console.plans.weights_hub import Remote
from console.text import say

SCRIPTS = Path(__file__).resolve().parent / "scripts" / "weights"
LONGEST_S = 72 * 3600
USUAL = 20_000_000
"""Bytes per second that are expected from a hub."""


def plan(one: Remote, folder: str, size: int = 0) -> list[Step]:
    """From nothing, or from a part of it, to the whole model in `folder` of the host. `size`: bytes, where known."""
    check_folder(folder)
    asked = {"hub": one.hub.value, "model": one.model, "revision": one.revision, "endpoint": one.endpoint}
    return [
        Step(
            "list",
            say("Ask {endpoint} for the files of {model}", endpoint=one.endpoint, model=one.model),
            action="list_weights",
            arguments={**asked, "folder": folder},
            timeout_s=600,
        ),
        Step(
            "fetch",
            say("Fetch what is missing, and compare each file with its checksum"),
            script=_script(one, "fetch", folder=folder),
            verify=_script(one, "fetch.verify", folder=folder),
            expected_s=20 + size / USUAL,
            timeout_s=LONGEST_S,
            rollback=say("Remove the folder {folder}.", folder=folder),
        ),
        look(folder),
    ]


def look(folder: str) -> Step:
    """The last step of everything that brings a model."""
    return Step("look", say("Look through the model"), action="look_at_weights", arguments={"folder": folder})


def page_script(one: Remote, address: str) -> str:
    """Prints one answer of the hub: exit code of the client and status, the header Link, an empty line, the body."""
    return _script(one, "page", url=address)


def room_script(one: Remote, folder: str) -> str:
    """Takes the list of files on standard input; prints the free bytes of the disk, then those that are there."""
    return _script(one, "room", folder=folder)


def check_folder(folder: str) -> None:
    """InvalidInput when a model cannot go there."""
    if not folder.startswith("/") or any(ord(sign) < 32 for sign in folder) or ".." in folder.split("/"):
        raise InvalidInput(say("Give the whole path of the folder, beginning with a slash: {folder}", folder=folder))


def _script(one: Remote, name: str, **values: str) -> str:
    stated = {"hub": one.hub.value, "program": _read("client.py"), **values}
    head = "".join(f"{key}={shlex.quote(value)}\n" for key, value in stated.items())
    return f"{head}{COMMON}{_read('common.sh')}{_read(f'{name}.sh')}"


@functools.cache
def _read(name: str) -> str:
    return (SCRIPTS / name).read_text("utf-8")
