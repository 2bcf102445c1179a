"""Images of the simulated container engine: listed, loaded from an archive, pulled, removed."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tarfile

from pretend import place, room, templates
from pretend.docker_words import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

Given = dict[str, list[str]]
NAME = re.compile(
    r"(?:[\w.-]+(?::\d+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)
STORE = "/var/lib/docker"
SIZE = 15_300_000_000

KNOWN = re.compile(r"(?:quay\.io/|m\.daocloud\.io/quay\.io/|quay\.nju\.edu\.cn/)?ascend/(?:vllm-ascend|cann):[\w.-]+$")
"""What the simulated registry has: the project's images, with any tag."""


def full(name: str) -> str:
    """With its tag. Refused when it is no name of an image."""
    if not NAME.fullmatch(name):
        is_loud = name.lower() != name and NAME.fullmatch(name.lower())
        why = f"repository name ({name.partition(':')[0]}) must be lowercase" if is_loud else ""
        raise Refused("docker: invalid reference format" + (f": {why}" if why else "") + ".", 125)
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def every() -> list[place.Data]:
    return list(place.read("docker").get("images", []))


def find(word: str) -> place.Data | None:
    """By name, or by the beginning of the id."""
    if not NAME.fullmatch(word):
        return None
    short = word.removeprefix("sha256:")
    return next((one for one in every() if one["name"] == full(word) or one["id"].startswith(short)), None)


def add(name: str, size: int) -> place.Data:
    image = {"name": full(name), "id": hashlib.sha256(full(name).encode()).hexdigest(), "size": size}
    with place.changing("docker") as kept:
        kept["images"] = [one for one in kept["images"] if one["name"] != image["name"]] + [image]
    return image


def facts(image: place.Data) -> place.Data:
    return {
        "Id": f"sha256:{image['id']}",
        "RepoTags": [image["name"]],
        "Architecture": "arm64",
        "Os": "linux",
        "Size": image["size"],
    }


def _row(image: place.Data) -> place.Data:
    repository, _, tag = image["name"].rpartition(":")
    return {"Repository": repository, "Tag": tag, "ID": image["id"][:12], "Size": f"{image['size'] / 1e9:.1f}GB"}


def listing(given: Given, arguments: list[str]) -> int:
    found = [_row(one) for one in every() if arguments[:1] in ([], [one["name"]], [one["name"].rpartition(":")[0]])]
    if "quiet" in given:
        print("".join(f"{row['ID']}\n" for row in found), end="")
    elif template := given.get("format", [""])[-1]:
        print("".join(templates.fill(template, row) + "\n" for row in found), end="")
    else:
        print(f"{'REPOSITORY':<40}{'TAG':<30}{'IMAGE ID':<16}SIZE")
        for row in found:
            print(f"{row['Repository']:<40}{row['Tag']:<30}{row['ID']:<16}{row['Size']}")
    return 0


def load(given: Given, arguments: list[str]) -> int:
    """An archive as `docker save` writes it, from a file or from standard input."""
    name = given.get("input", [""])[-1]
    if not name and sys.stdin.isatty():
        raise Refused("requested load from stdin, but stdin is empty")
    try:
        with open(name, "rb") if name else sys.stdin.buffer as file, tarfile.open(fileobj=file, mode="r|*") as archive:
            tags, size = _read(archive)
    except FileNotFoundError:
        print(f"open {name}: no such file or directory", file=sys.stderr)
        return 1
    except (tarfile.TarError, EOFError, OSError, KeyError, ValueError):
        print("Error processing tar file(exit status 1): unexpected EOF", file=sys.stderr)
        return 1
    for tag in tags:
        add(tag, size)
        print(f"Loaded image: {tag}")
    return 0


def _read(archive: tarfile.TarFile) -> tuple[list[str], int]:
    tags: list[str] | None = None
    size = 0
    for member in archive:
        size += member.size
        if member.name == "manifest.json" and (file := archive.extractfile(member)):
            tags = [tag for one in json.load(file) for tag in one.get("RepoTags") or []]
    if tags is None:
        raise KeyError("manifest.json")
    return tags, size


def found(word: str, policy: str) -> place.Data | None:
    """The image that `docker run` takes, pulled as `--pull` says; None when it could not be, which was said."""
    full(word)
    there = find(word)
    if policy == "never" and there is None:
        raise Refused(
            f"docker: Error response from daemon: No such image: {full(word)}.\nSee 'docker run --help'.", 125
        )
    if policy != "never" and (there is None or policy == "always"):
        if there is None:
            print(f"Unable to find image '{full(word)}' locally", file=sys.stderr)
        try:
            pull({}, [word], told=sys.stderr)
        except Refused as refused:
            print(f"docker: {refused}.\nSee 'docker run --help'.", file=sys.stderr)
            return None
    return find(word)


def pull(given: Given, arguments: list[str], told: TextIO | None = None) -> int:
    name = full(arguments[0])
    registry = name.partition("/")[0] if "." in name.partition("/")[0] else "registry-1.docker.io"
    if not place.read("docker").get("registry", True):
        reason = f'Get "https://{registry}/v2/": dial tcp: lookup {registry}: no such host'
        raise Refused(f"Error response from daemon: {reason}")
    if not KNOWN.fullmatch(name):
        if registry == "registry-1.docker.io":
            why = f"pull access denied for {name.rpartition(':')[0]}, repository does not exist or may require "
            raise Refused(
                f"Error response from daemon: {why}'docker login': denied: requested access to the resource is denied"
            )
        raise Refused(f"Error response from daemon: manifest for {name} not found: manifest unknown: manifest unknown")
    if room.of(STORE).free < SIZE:
        layer = "write /usr/local/Ascend/cann-9.1.0/opp/built-in: no space left on device"
        raise Refused(f"failed to register layer: {layer}")
    repository, _, tag = name.rpartition(":")
    print(f"{tag}: Pulling from {repository.partition('/')[2]}", file=told)
    for layer in range(3):
        print(f"{hashlib.sha256(f'{name}{layer}'.encode()).hexdigest()[:12]}: Pull complete", file=told)
    image = add(name, SIZE)
    room.claim(f"image {image['id']}", STORE, SIZE)
    print(f"Digest: sha256:{image['id']}\nStatus: Downloaded newer image for {name}\n{name}", file=told)
    return 0


def remove(given: Given, arguments: list[str]) -> int:
    from pretend import boxes

    code = 0
    for word in arguments:
        image = find(word)
        users = [box for box in boxes.all_boxes() if image and box.get("image") == image["name"]]
        if image is None:
            complaint = f"No such image: {full(word)}"
        elif users and (users[0]["pid"] or "force" not in given):
            kind = "running container" if users[0]["pid"] else "container"
            force = "cannot be forced" if users[0]["pid"] else "must be forced"
            complaint = (
                f'conflict: unable to remove repository reference "{word}" ({force}) - {kind} {users[0]["id"][:12]} is '
                f"using its referenced image {image['id'][:12]}"
            )
        else:
            with place.changing("docker") as kept:
                kept["images"] = [one for one in kept["images"] if one["id"] != image["id"]]
            room.claim(f"image {image['id']}", STORE, 0)
            print(f"Untagged: {image['name']}\nDeleted: sha256:{image['id']}")
            continue
        print(f"Error response from daemon: {complaint}", file=sys.stderr)
        code = 1
    return code
