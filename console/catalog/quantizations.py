"""Which ways to store weights run on which chips and releases, and what takes the place of those that do not."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from console.errors import NotFound
from console.text import say

FILE = Path(__file__).with_name("quantizations.yaml")
NEWEST = "0.23.0"
"""The release whose rules hold when none is named: the stable one."""


@dataclass(frozen=True)
class Scheme:
    """One way to store weights. Bits are of one weight; families those of ascend.yaml that run it.

    runs  False: vLLM on NPUs refuses it whatever the chip
    """

    id: str
    title: Mapping[str, str]
    attention_bits: float
    linear_bits: float
    expert_bits: float
    source: str
    families: tuple[str, ...] = ()
    since: str = "0"
    flag: str | None = None
    moe_only: bool = False
    loads_as_bf16_since: str | None = None
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    runs: bool = True

    def expands(self, family: str, release: str) -> bool:
        """Whether this release loads it on this family by expanding it to BF16."""
        since = self.loads_as_bf16_since
        return (
            since is not None and family not in self.families and family != "310P" and _order(release) >= _order(since)
        )


def scheme(name: str) -> Scheme:
    """By its name, or another name of the same. Raises NotFound with the names there are."""
    wanted = name.strip().lower()
    found, same = _read()
    try:
        return found[same.get(wanted, wanted)]
    except KeyError:
        raise NotFound(
            say("There is no quantization '{name}'. There are: {names}.", name=name, names=", ".join(found))
        ) from None


def schemes() -> tuple[Scheme, ...]:
    """Those that run somewhere, in the order of the file."""
    return tuple(one for one in _read()[0].values() if one.runs)


def known_since(one: Scheme, release: str) -> bool:
    """Whether this release of vllm-ascend already runs it."""
    return _order(release) >= _order(one.since)


def at_least(release: str, least: str) -> bool:
    """Whether a release is this one or newer; a release candidate counts as its release."""
    return _order(release) >= _order(least)


def _order(release: str) -> tuple[int, ...]:
    numbers = re.match(r"v?(\d+(?:\.\d+)*)", release.strip())
    found = [int(one) for one in numbers[1].split(".")] if numbers else []
    return tuple([*found, 0, 0, 0][:3])


@functools.cache
def _read() -> tuple[dict[str, Scheme], dict[str, str]]:
    tree: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    found = [_scheme(entry) for entry in tree["schemes"]]
    for entry in tree["refused"]:
        bits, name = float(entry["bits"]), str(entry["id"])
        found.append(
            Scheme(
                name,
                {"en": name, "zh": name},
                bits,
                bits,
                bits,
                entry["source"],
                instead=_instead(entry),
                runs=False,
            )
        )
    return {one.id: one for one in found}, tree["same"]


def _scheme(entry: dict[str, Any]) -> Scheme:
    made = {"families": tuple(map(str, entry["families"])), "since": str(entry["since"]), "instead": _instead(entry)}
    return Scheme(**{**entry, **made})


def _instead(entry: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {str(family): tuple(names) for family, names in entry.get("instead", {}).items()}
