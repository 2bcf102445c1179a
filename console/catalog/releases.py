"""Releases of vllm-ascend with all they are pinned to, and the files of these pins."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from console.catalog.entries import Tree
from console.catalog.profiles import Words

_TAG = re.compile(r"manylinux_(\d+)_(\d+)_|(manylinux1|manylinux2010|manylinux2014)_")
_OLD_TAGS = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)(?:\.?(?:a|b|rc)(\d+))?(?:\.?post(\d+))?(?:\.?dev(\d+))?", re.IGNORECASE)
_FINAL = 10**9

Python = tuple[int, int]
Order = tuple[tuple[int, ...], int, int, int]


@dataclass(frozen=True)
class Variant:
    """One CANN release a plugin release may stand on. Empty `archs` or `chips`: all of the release; `why`: if fewer."""

    cann: str
    torch_npu: str
    triton_ascend: str | None
    image: bool
    archs: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()
    why: Words | None = None


@dataclass(frozen=True)
class Image:
    """The container image: suffix of its tag by family, the systems it is made of, the Python inside."""

    suffix: Mapping[str, str]
    systems: tuple[str, ...]
    python: str

    def tag(self, release: str, family: str, system: str) -> str | None:
        """The tag for a family on ubuntu or openeuler; None if there is none for this family."""
        if family not in self.suffix:
            return None
        parts = [f"v{release}", self.suffix[family], "openeuler" if system == "openeuler" else ""]
        return "-".join(part for part in parts if part)


@dataclass(frozen=True)
class Proof:
    """Whether the pinned set was seen to resolve: proved, emulated, unreachable or fails."""

    verdict: str
    date: date
    why: Words


@dataclass(frozen=True)
class Release:
    """A release that can be offered: stable, or the newest pre-release. `chips` are families."""

    vllm_ascend: str
    stable: bool
    released: date
    vllm: str
    python: tuple[Python, Python]
    torch: str
    chips: tuple[str, ...]
    variants: tuple[Variant, ...]
    image: Image
    pins: Mapping[str, str]
    driver_least: str | None
    driver_fetch: str | None
    driver_wished: str | None
    joint: Words | None
    proof: Mapping[str, Proof]
    notes: tuple[Words, ...]
    source: str


@dataclass(frozen=True)
class Row:
    """What one release, of whatever kind, goes with; one vLLM, except for the odd pre-release that took two."""

    vllm_ascend: str
    vllm: tuple[str, ...]
    torch: str
    variants: tuple[Variant, ...]
    python: tuple[Python, Python] | None
    driver_least: str | None
    source: str


@dataclass(frozen=True)
class Wheel:
    """The files of one pinned package. `tags` by architecture: None if nobody looked, {} for a source archive only."""

    package: str
    version: str
    where: str
    pythons: tuple[Python, ...] | None
    tags: Mapping[str, str] | None
    chips: tuple[str, ...] | None
    source: str

    @property
    def only_source(self) -> bool:
        return self.where == "pypi" and not self.tags

    def glibc(self, arch: str) -> tuple[int, int] | None:
        """The oldest glibc the file for `arch` loads on; of several tags in one name the easiest counts."""
        found = [_glibc(match) for match in _TAG.finditer((self.tags or {}).get(arch, "") + "_")]
        return min(found, default=None)

    def file(self, python: Python, arch: str) -> str:
        """The name of the file, or the requirement where the name of the file is not known."""
        tag = (self.tags or {}).get(arch)
        if tag is None:
            return f"{self.package}=={self.version}"
        cpython = "cp{}{}".format(*python)
        return f"{self.package.replace('-', '_')}-{self.version}-{cpython}-{cpython}-{tag}.whl"


def release_order(version: str) -> Order:
    """A key that sorts releases of Python packages: 0.23.0rc1 < 0.23.0 < 0.23.0.post1; what is none comes first."""
    match = _VERSION.match(version)
    if match is None:
        return (), -1, -1, -1
    numbers = [int(part) for part in match.group(1).split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    candidate, post, dev = match.group(2), match.group(3), match.group(4)
    early = int(candidate) if candidate else (-1 if dev and not post else _FINAL)
    return tuple(numbers), early, int(post or -1), int(dev or _FINAL)


def python_of(words: str) -> Python:
    major, minor = words.split(".")[:2]
    return int(major), int(minor)


def releases_of(tree: Tree) -> tuple[Release, ...]:
    """The releases of a catalog without faults, newest first."""
    found = [_release(entry) for entry in tree.of("releases")]
    return tuple(sorted(found, key=lambda one: release_order(one.vllm_ascend), reverse=True))


def rows_of(tree: Tree) -> tuple[Row, ...]:
    """What every release goes with, those that are not offered included, newest first."""
    rows = [_row(one) for one in releases_of(tree)] + [_prerelease(entry) for entry in tree.of("prereleases")]
    return tuple(sorted(rows, key=lambda one: release_order(one.vllm_ascend), reverse=True))


def wheels_of(tree: Tree) -> Mapping[tuple[str, str], Wheel]:
    return {(one.package, one.version): one for one in map(_wheel, tree.of("wheels"))}


def _release(entry: Mapping[str, Any]) -> Release:
    lowest, highest = entry["python"]
    image = entry["image"]
    plain = ("vllm_ascend", "stable", "vllm", "torch", "source")
    return Release(
        **{name: entry[name] for name in plain},
        driver_least=entry.get("driver_least"),
        driver_fetch=entry.get("driver_fetch"),
        driver_wished=entry.get("driver_wished"),
        joint=entry.get("joint"),
        released=date.fromisoformat(str(entry["released"])),
        python=(python_of(lowest), python_of(highest)),
        chips=tuple(entry["chips"]),
        variants=tuple(map(_variant, entry["variants"])),
        image=Image(image["suffix"], tuple(image["systems"]), image["python"]),
        pins=entry.get("pins") or {},
        proof={arch: _proof(one) for arch, one in (entry.get("proof") or {}).items()},
        notes=tuple(entry.get("notes") or ()),
    )


def _variant(entry: Mapping[str, Any]) -> Variant:
    lists = {name: tuple(entry.get(name, ())) for name in ("archs", "chips")}
    return Variant(**{**entry, "triton_ascend": entry.get("triton_ascend"), **lists})


def _proof(entry: Mapping[str, Any]) -> Proof:
    return Proof(entry["verdict"], date.fromisoformat(str(entry["date"])), entry["why"])


def _row(one: Release) -> Row:
    return Row(one.vllm_ascend, (one.vllm,), one.torch, one.variants, one.python, one.driver_least, one.source)


def _prerelease(entry: Mapping[str, Any]) -> Row:
    between = entry["python"]
    return Row(
        entry["vllm_ascend"],
        tuple(entry["vllm"]),
        entry["torch"],
        (Variant(entry["cann"], entry["torch_npu"], entry["triton_ascend"], image=False),),
        None if between is None else (python_of(between[0]), python_of(between[1])),
        None,
        entry["source"],
    )


def _wheel(entry: Mapping[str, Any]) -> Wheel:
    pythons, chips = entry.get("pythons"), entry.get("chips")
    return Wheel(
        entry["package"],
        entry["version"],
        entry["where"],
        None if pythons is None else tuple(map(python_of, pythons)),
        entry.get("tags"),
        None if chips is None else tuple(chips),
        entry["source"],
    )


def _glibc(match: re.Match[str]) -> tuple[int, int]:
    return _OLD_TAGS[match.group(3)] if match.group(3) else (int(match.group(1)), int(match.group(2)))
