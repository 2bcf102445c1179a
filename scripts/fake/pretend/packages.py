"""Installed packages by version, those that could be installed, and what comes and goes with them."""

import fcntl
import json
import os
import re
import struct

from pretend import place, programs

REPOSITORY = f"{place.FAKE}/pretend/repository.json"
"""What the simulated repositories offer, besides headers of the running kernel: name -> version."""


def installed() -> place.Data:
    return dict(place.read("packages").get("installed", {}))


def version(name: str) -> str | None:
    """The version a repository offers; None when no repository has the package."""
    release = place.scenario()["kernel"]["release"]
    if name in (
        *programs.headers_of(release),
        f"kernel-headers-{release}",
        f"kernel-headers-{release.removesuffix('.aarch64')}",
    ):
        return ".".join(re.findall(r"\d+", release)[:4])
    with open(REPOSITORY) as file:
        return json.load(file).get(name)


def is_offline() -> bool:
    """Whether the repositories cannot be reached."""
    return not place.scenario().get("repositories", True)


def change(add: list[str] | None = None, remove: list[str] | None = None) -> None:
    with place.changing("packages") as kept:
        for name in add or []:
            kept["installed"][name] = version(name)
        for name in remove or []:
            kept["installed"].pop(name, None)
    programs.refresh(place.scenario())


def holder(path: str) -> int:
    """The process that holds a lock on this file; 0 when none does."""
    wish = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    with open(place.at(path), "rb+") as file:
        return int(struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, wish))[4])
