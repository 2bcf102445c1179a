"""What a bundle folder holds: each file with its size, SHA-256, kind and source, and what a person has to bring."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from console.errors import InvalidInput
from console.hosts.transfer import Parcel
from console.text import Text, from_json, say, to_json

NAME = "manifest.json"
FORMAT = 1
WHEELS, IMAGES, WEIGHTS = "wheels", "images", "weights"
"""Folders of a bundle; driver, firmware and CANN lie in the bundle itself."""


@dataclass(frozen=True)
class Entry:
    """One file. `path` is relative to the bundle, with slashes; `source`: an address, or in words how it came here."""

    path: str
    size: int
    sha256: str
    kind: str
    source: str


@dataclass(frozen=True)
class Missing:
    """A file that is not there. `path`: its exact place in the bundle; `why`: the reason and what to do."""

    path: str
    kind: str
    why: Text

    @property
    def pattern(self) -> str:
        """Its path, with a star where the version is not known."""
        return self.path.replace("<version>", "*")


@dataclass(frozen=True)
class Order:
    """What a bundle is for: one release on one kind of host, by one route; `python` as "3.11", `glibc` as "2.35"."""

    vllm_ascend: str
    vllm: str
    cann: str
    family: str
    system: str
    arch: str
    python: str
    glibc: str
    route: str


@dataclass(frozen=True)
class Manifest:
    """The content of manifest.json; `made` in UTC."""

    made: str
    order: Order
    files: tuple[Entry, ...]
    missing: tuple[Missing, ...]

    @property
    def size(self) -> int:
        return sum(one.size for one in self.files)

    def entry(self, path: str) -> Entry | None:
        return next((one for one in self.files if one.path == path), None)

    def parcels(self, folder: Path) -> list[Parcel]:
        """What goes to a host, the small files first: whatever is wrong with the host shows early."""
        found = [Parcel(folder / one.path, one.path, one.size, one.sha256) for one in self.files]
        return sorted(found, key=lambda one: (one.size, one.name))

    def plain(self) -> dict[str, object]:
        """For JSON."""
        missing = [{"path": one.path, "kind": one.kind, "why": json.loads(to_json(one.why))} for one in self.missing]
        return {
            "format": FORMAT,
            "made": self.made,
            "for": asdict(self.order),
            "files": [asdict(one) for one in self.files],
            "missing": missing,
        }


def write(folder: Path, manifest: Manifest) -> None:
    """Whole or not at all."""
    part = folder / f"{NAME}.part"
    part.write_text(json.dumps(manifest.plain(), ensure_ascii=False, indent=2) + "\n", "utf-8")
    part.replace(folder / NAME)


def read(folder: Path) -> Manifest | None:
    """None when the folder has no manifest. InvalidInput when it is none of ours."""
    path = folder / NAME
    try:
        stored = json.loads(path.read_text("utf-8"))
        return _manifest(stored)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            say(
                "{path} cannot be read: {error}. Build the bundle again into the same folder; what is there is kept.",
                path=str(path),
                error=str(error) or type(error).__name__,
            )
        ) from error


def required(folder: Path) -> Manifest:
    """InvalidInput when there is no bundle in this folder."""
    if not folder.is_dir():
        raise InvalidInput(say("{path} is no folder.", path=str(folder)))
    found = read(folder)
    if found is None:
        raise InvalidInput(
            say(
                "{folder} holds no bundle: it has no manifest.json. `pilot bundle build` makes one.", folder=str(folder)
            )
        )
    return found


def _manifest(stored: Mapping[str, Any]) -> Manifest:
    if stored["format"] != FORMAT:
        raise ValueError(f"format {stored['format']}")
    files: Sequence[Mapping[str, Any]] = stored["files"]
    return Manifest(
        made=str(stored["made"]),
        order=Order(**{name: str(value) for name, value in stored["for"].items()}),
        files=tuple(
            Entry(_inside(one["path"]), int(one["size"]), _digits(one["sha256"]), str(one["kind"]), str(one["source"]))
            for one in files
        ),
        missing=tuple(
            Missing(_inside(one["path"]), str(one["kind"]), from_json(json.dumps(one["why"])))
            for one in stored["missing"]
        ),
    )


def _inside(path: object) -> str:
    """A manifest may have been carried here by anybody: none of its paths leads out of the folder."""
    words = str(path)
    if not words or words.startswith("/") or ".." in words.split("/") or any(ord(sign) < 32 for sign in words):
        raise ValueError(f"path {words!r}")
    return words


def _digits(value: object) -> str:
    words = str(value)
    if len(words) != 64 or set(words) - set("0123456789abcdef"):
        raise ValueError(f"sha256 {words!r}")
    return words
