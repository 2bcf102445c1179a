"""Images of the simulated container engine: listed, loaded from an archive, pulled, removed."""

import hashlib
import json
import re
import sys
import tarfile

from pretend import place, templates

KNOWN = re.compile(r"(?:quay\.io/|m\.daocloud\.io/quay\.io/|quay\.nju\.edu\.cn/)?ascend/(?:vllm-ascend|cann):[\w.-]+$")
"""What the simulated registry has: the project's images, with any tag."""


def full(name: str) -> str:
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def every() -> list[place.Data]:
    return list(place.read("docker").get("images", []))


def find(word: str) -> place.Data | None:
    return next((one for one in every() if one["name"] == full(word) or one["id"].startswith(word)), None)


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


def listing(words: list[str]) -> int:
    from pretend.docker import format_of, names_of

    wanted = names_of(words, ("--format", "-f", "--filter"))
    found = [_row(one) for one in every() if not wanted or wanted[0] in (one["name"], one["name"].rpartition(":")[0])]
    if {"-q", "--quiet"} & set(words):
        print("".join(f"{row['ID']}\n" for row in found), end="")
    elif template := format_of(words):
        print("".join(templates.fill(template, row) + "\n" for row in found), end="")
    else:
        print(f"{'REPOSITORY':<40}{'TAG':<30}{'IMAGE ID':<16}SIZE")
        for row in found:
            print(f"{row['Repository']:<40}{row['Tag']:<30}{row['ID']:<16}{row['Size']}")
    return 0


def load(words: list[str]) -> int:
    """An archive as `docker save` writes it, from a file or from standard input."""
    name = next((words[index + 1] for index, word in enumerate(words[:-1]) if word in ("-i", "--input")), "")
    name = next((word.partition("=")[2] for word in words if word.startswith("--input=")), name)
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


def pull(words: list[str]) -> int:
    name = full(next((word for word in words if not word.startswith("-")), ""))
    registry = name.partition("/")[0] if "." in name.partition("/")[0] else "registry-1.docker.io"
    if not place.read("docker").get("registry", True):
        reason = f'Get "https://{registry}/v2/": dial tcp: lookup {registry}: no such host'
        print(f"Error response from daemon: {reason}", file=sys.stderr)
        return 1
    if not KNOWN.fullmatch(name):
        print(f"Error response from daemon: manifest for {name} not found: manifest unknown", file=sys.stderr)
        return 1
    repository, _, tag = name.rpartition(":")
    print(f"{tag}: Pulling from {repository.partition('/')[2]}")
    for layer in range(3):
        print(f"{hashlib.sha256(f'{name}{layer}'.encode()).hexdigest()[:12]}: Pull complete")
    image = add(name, 15_300_000_000)
    print(f"Digest: sha256:{image['id']}\nStatus: Downloaded newer image for {name}\n{name}")
    return 0


def remove(words: list[str]) -> int:
    code = 0
    for word in [word for word in words if not word.startswith("-")]:
        image = find(word)
        if image is None:
            print(f"Error response from daemon: No such image: {word}", file=sys.stderr)
            code = 1
            continue
        with place.changing("docker") as kept:
            kept["images"] = [one for one in kept["images"] if one["id"] != image["id"]]
        print(f"Untagged: {image['name']}\nDeleted: sha256:{image['id']}")
    return code
