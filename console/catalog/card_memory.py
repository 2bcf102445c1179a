"""What lies in a card's memory beside weights and cache: card_memory.yaml as values."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from console.catalog.quantizations import at_least

FILE = Path(__file__).with_name("card_memory.yaml")
MIB = 1024**2


@dataclass(frozen=True)
class Assumed:
    """One figure; basis "documented" or "computed" (an allowance of ours, as its source says); source by language."""

    value: object
    basis: str
    source: Mapping[str, str]

    @property
    def number(self) -> int:
        assert isinstance(self.value, int)
        return self.value

    def of(self, family: str, default: int) -> int:
        """The value for a family of chips."""
        assert isinstance(self.value, dict)
        return int(self.value.get(family, default))


def assumed(name: str) -> Assumed:
    return _read()[name]


def idle_bytes(family: str) -> int:
    """The most that an idle card of this family was seen to hold."""
    return assumed("idle_mib").of(family, 3450) * MIB


def dies(family: str) -> int:
    """Devices of one card."""
    return assumed("dies").of(family, 1)


def node_devices(family: str) -> int:
    """Devices of one server."""
    return assumed("node_devices").of(family, 8)


def default_utilization(release: str) -> float:
    """What this release takes for --gpu-memory-utilization when nothing is said."""
    value = assumed("utilization").value
    assert isinstance(value, dict)
    return next(float(share) for since, share in value.items() if at_least(release, str(since)))


@functools.cache
def _read() -> Mapping[str, Assumed]:
    tree = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return {name: Assumed(**entry) for name, entry in tree.items() if isinstance(entry, dict)}
