"""Ascend chips and the drivers that fit each CANN release: ascend.yaml as values."""

import functools
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("ascend.yaml")
_VIRTUAL = re.compile(r"vir\d+(?:_\w+)?$")


class Fit(StrEnum):
    """How a driver goes with a CANN release. UNLISTED: the vendor's table does not name this pair."""

    FITS = "fits"
    TOO_OLD = "too old"
    EXCLUDED = "excluded"
    UNLISTED = "unlisted"


@dataclass(frozen=True)
class Chip:
    """One kind of chip. `hbm_mb` (MiB) is null where it has to be read from the card."""

    names: tuple[str, ...]
    family: str
    hbm_mb: int | None
    supported: bool
    wheels: bool
    source: str


@dataclass(frozen=True)
class DriverRule:
    """The driver series one CANN release, or one series of them, goes with."""

    cann: str
    compatible: tuple[str, ...]
    incompatible: tuple[str, ...]
    paired: str | None
    source: str

    def fit(self, driver: str) -> Fit:
        series = ".".join(driver.split(".")[:2])
        if series in self.compatible or (self.paired and series == ".".join(self.paired.split(".")[:2])):
            return Fit.FITS
        if series in self.incompatible:
            return Fit.EXCLUDED
        lowest = self.paired or min(self.compatible, key=order)
        return Fit.TOO_OLD if order(driver) < order(lowest) else Fit.UNLISTED

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


def chip(name: str) -> Chip | None:
    """The chip that npu-smi calls `name`; the slices of a virtual one count as the whole. None if it is not known."""
    wanted = _VIRTUAL.sub("", name.removeprefix("Ascend ").strip())
    return next((one for one in _read()[0] if wanted in one.names), None)


def driver_rule(cann: str) -> DriverRule | None:
    """The rule for a CANN release: its own, else that of its series; None if the vendor's tables have neither."""
    rules = {rule.cann.lower(): rule for rule in _read()[1]}
    return rules.get(cann.lower()) or rules.get(".".join(cann.split(".")[:2]))


@functools.cache
def _read() -> tuple[tuple[Chip, ...], tuple[DriverRule, ...]]:
    tree: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    chips = tuple(Chip(**{**entry, "names": tuple(map(str, entry["names"]))}) for entry in tree["chips"])
    rules = tuple(
        DriverRule(
            cann=str(entry["cann"]),
            compatible=tuple(entry.get("compatible", ())),
            incompatible=tuple(entry.get("incompatible", ())),
            paired=entry.get("paired"),
            source=entry["source"],
        )
        for entry in tree["driver_for_cann"]
    )
    return chips, rules
