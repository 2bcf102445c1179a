"""What driver, firmware, CANN and images are called for each family of chips, and where they come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from console.catalog.ascend import order
from console.catalog.entries import Tree
from console.catalog.profiles import Words


@dataclass(frozen=True)
class Family:
    """One family of chips. `driver` and `firmware` are patterns of file names, None where no name was seen."""

    family: str
    title: str
    dies: int
    cann_image: str
    driver: str | None
    firmware: str | None


@dataclass(frozen=True)
class Bundle:
    """A driver and the firmware published with it; `file`: the version as the driver's file name spells it."""

    driver: str
    file: str
    firmware: str | None


@dataclass(frozen=True)
class CannNames:
    """How the packages of CANN are called from the release `since` on; `operators` by family."""

    since: str
    toolkit: str
    operators: Mapping[str, str]
    nnal: str
    folder: str
    environment: str


@dataclass(frozen=True)
class Place:
    """Where files are had. `address` None: not known; `login`: a person has to fetch them."""

    id: str
    address: str | None
    login: bool
    header: str
    verified: bool
    source: str


@dataclass(frozen=True)
class System:
    """An operating system. `routes`: ways to run the engine there; `chips`: families whose driver lists name it."""

    id: str
    title: str
    archs: tuple[str, ...]
    glibc: tuple[int, int]
    tool: str
    image: str
    routes: tuple[str, ...]
    chips: tuple[str, ...]
    why: Words | None
    source: str


def families_of(tree: Tree) -> Mapping[str, Family]:
    names = ("family", "title", "dies", "cann_image", "driver", "firmware")
    return {entry["family"]: Family(*(entry[name] for name in names)) for entry in tree.of("families")}


def bundles_of(tree: Tree) -> Mapping[str, Bundle]:
    """By driver in lower case, since the vendor writes 26.0.RC1 and 26.0.rc1."""
    return {one.driver.lower(): one for one in map(_bundle, tree.of("driver_files"))}


def cann_names_of(tree: Tree) -> tuple[CannNames, ...]:
    """Newest generation first."""
    names = ("since", "toolkit", "operators", "nnal", "folder", "environment")
    found = [CannNames(*(entry[name] for name in names)) for entry in tree.of("cann_names")]
    return tuple(sorted(found, key=lambda one: order(one.since), reverse=True))


def names_for(names: Sequence[CannNames], cann: str) -> CannNames | None:
    """The generation that a CANN release belongs to; None for one older than all."""
    return next((one for one in names if order(one.since) <= order(cann)), None)


def places_of(tree: Tree) -> Mapping[str, Place]:
    return {
        entry["id"]: Place(
            entry["id"],
            entry["address"],
            entry["login"],
            entry.get("header") or "",
            entry["verified"],
            entry["source"],
        )
        for entry in tree.of("places")
    }


def systems_of(tree: Tree) -> Mapping[str, System]:
    return {one.id: one for one in map(_system, tree.of("systems"))}


def _bundle(entry: Mapping[str, Any]) -> Bundle:
    return Bundle(entry["driver"], entry["file"], entry["firmware"])


def _system(entry: Mapping[str, Any]) -> System:
    major, minor = map(int, entry["glibc"].split(".")[:2])
    return System(
        id=entry["id"],
        title=entry["title"],
        archs=tuple(entry["archs"]),
        glibc=(major, minor),
        tool=entry["tool"],
        image=entry["image"],
        routes=tuple(entry["routes"]),
        chips=tuple(entry["chips"]),
        why=entry.get("why"),
        source=entry["source"],
    )
