"""The archive of a container image, for hosts that cannot pull it."""

import json
import shlex
from pathlib import Path

from console.errors import HostError, InvalidInput
from console.hosts.local import LocalRunner
from console.text import Text, say, verbatim

PULL_S, SAVE_S, ASK_S = 6 * 3600, 2 * 3600, 60
PLATFORMS = {"aarch64": "linux/arm64", "x86_64": "linux/amd64"}
_ARCHS = {"arm64": "aarch64", "amd64": "x86_64"}


def save(image: str, arch: str, target: Path) -> str:
    """Pull `image` for an architecture and write its archive to `target`; returns its digest, or its id.

    InvalidInput with the commands for another machine, when docker cannot do it here.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    _docker(f"docker pull -q --platform {PLATFORMS[arch]} {shlex.quote(image)}", PULL_S, image, arch, target)
    asked = _docker(f"docker image inspect {shlex.quote(image)}", ASK_S, image, arch, target)
    told = _inspected(asked, image)
    if told["arch"] != arch:
        raise InvalidInput(
            say(
                "Docker here has {image} for {other}, the host is {arch}. Remove it there, then build again.",
                image=verbatim(image),
                other=told["arch"],
                arch=arch,
            )
        )
    _docker(f"docker save -o {shlex.quote(str(part))} {shlex.quote(image)}", SAVE_S, image, arch, target)
    part.replace(target)
    return told["digest"]


def by_hand(image: str, arch: str, target: Path) -> Text:
    """How to make the archive on another machine."""
    return say(
        "On a machine with docker and internet: {commands}. Then put the file there.",
        commands=verbatim(
            f"docker pull --platform {PLATFORMS[arch]} {shlex.quote(image)} && "
            f"docker save -o {shlex.quote(target.name)} {shlex.quote(image)}"
        ),
    )


def _docker(command: str, timeout_s: float, image: str, arch: str, target: Path) -> str:
    try:
        outcome = LocalRunner().run(command, timeout_s=timeout_s)
    except HostError as error:
        raise InvalidInput(_cannot(error.text, image, arch, target)) from error
    if outcome.code != 0:
        said = outcome.err.strip().splitlines() or [f"exit code {outcome.code}"]
        raise InvalidInput(_cannot(verbatim(said[-1]), image, arch, target))
    return outcome.out


def _cannot(why: Text, image: str, arch: str, target: Path) -> Text:
    return say("The image could not be saved here: {why} {instead}", why=why, instead=by_hand(image, arch, target))


def _inspected(asked: str, image: str) -> dict[str, str]:
    try:
        one = json.loads(asked)[0]
        digests = one.get("RepoDigests") or [one["Id"]]
        return {"arch": _ARCHS.get(one["Architecture"], one["Architecture"]), "digest": str(digests[0])}
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise InvalidInput(say("docker describes {image} in a way that cannot be read.", image=image)) from error
