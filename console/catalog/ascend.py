"""Ascend chips and the drivers that fit each CANN release, as the catalog has them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from console.catalog.entries import Tree

_VIRTUAL = re.compile(r"vir\d+(?:_\w+)?$")


class Fit(StrEnum):
    """How a driver goes with a CANN release. UNLISTED: the vendor's table does not name this pair."""

    FITS = "fits"
    TOO_OLD = "too old"
    EXCLUDED = "excluded"
    UNLISTED = "unlisted"


@dataclass(frozen=True)
class Chip:
    """One kind of chip. `hbm_mb` (MiB) is null where it has to be read from the card; `also`: what people call it."""

    names: tuple[str, ...]
    family: str
    hbm_mb: int | None
    supported: bool
    wheels: bool
    source: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class DriverRule:
    """The drivers one CANN release, or one series of them, goes with; `fetch`: the bundle to install if none fits."""

    cann: str
    compatible: tuple[str, ...]
    incompatible: tuple[str, ...]
    paired: str | None
    source: str
    fetch: str | None = None

    def fit(self, driver: str) -> Fit:
        series = ".".join(driver.split(".")[:2])
        if series in self.compatible or (self.paired and series == ".".join(self.paired.split(".")[:2])):
            return Fit.FITS
        if series in self.incompatible:
            return Fit.EXCLUDED
        return Fit.TOO_OLD if order(driver) < order(self.least) else Fit.UNLISTED

    @property
    def least(self) -> str:
        """The oldest driver named, a series or a release."""
        return self.paired or min(self.compatible, key=order)

    @property
    def words(self) -> str:
        """The drivers that fit, for people."""
        return self.paired or ", ".join(f"{series}.x" for series in self.compatible)


def order(version: str) -> tuple[int, ...]:
    """A key that sorts vendor versions: 25.0.rc1 < 25.0.rc1.1 < 25.0.0 < 25.0.1; case does not matter."""
    return tuple(_number(part) for part in version.lower().split("."))


def _number(part: str) -> int:
    match = re.match(r"(rc)?(\d+)", part)
    if match is None:
        return -1000
    return int(match.group(2)) - (1000 if match.group(1) else 0)


def chips_of(tree: Tree) -> tuple[Chip, ...]:
    """The chips of a catalog without faults."""
    own = ("family", "hbm_mb", "supported", "wheels", "source")
    return tuple(
        Chip(tuple(entry["names"]), **{name: entry[name] for name in own}, also=tuple(entry.get("also") or ()))
        for entry in tree.of("chips")
    )


def rules_of(tree: Tree) -> tuple[DriverRule, ...]:
    """The driver rules of a catalog without faults."""
    return tuple(
        DriverRule(
            cann=entry["cann"],
            compatible=tuple(entry.get("compatible") or ()),
            incompatible=tuple(entry.get("incompatible") or ()),
            paired=entry.get("paired"),
            source=entry["source"],
            fetch=entry.get("fetch"),
        )
        for entry in tree.of("driver_for_cann")
    )


def find_chip(chips: Iterable[Chip], name: str) -> Chip | None:
    """The chip that npu-smi calls `name`, as a whole word; the slices of a virtual one count as the whole."""
    wanted = _VIRTUAL.sub("", name.removeprefix("Ascend ").strip())
    return next((one for one in chips if wanted in one.names), None)


def find_rule(rules: Iterable[DriverRule], cann: str) -> DriverRule | None:
    """The rule for a CANN release: its own, else that of its series; None if the vendor's tables have neither."""
    known = {rule.cann.lower(): rule for rule in rules}
    return known.get(cann.lower()) or known.get(".".join(cann.split(".")[:2]))


def chip(name: str) -> Chip | None:
    """`find_chip` in the catalog in force."""
    from console.catalog.knowledge import known

    return find_chip(known().chips, name)


def driver_rule(cann: str) -> DriverRule | None:
    """`find_rule` in the catalog in force."""
    from console.catalog.knowledge import known

    return find_rule(known().rules, cann)
