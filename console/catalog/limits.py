"""Which numbers an option of `vllm serve` takes, and how that is said."""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from console.text import Text, say

FILE = Path(__file__).with_name("limits.yaml")


@dataclass(frozen=True)
class Limit:
    """least and most belong to what is taken; above and below do not. also: one number more, outside of that."""

    name: str
    source: str
    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    also: float | None = None

    def holds(self, number: float) -> bool:
        """Whether the option takes it; what is no number at all it does not take."""
        if self.also is not None and number == self.also:
            return True
        enough = (self.least is None or number >= self.least) and (self.above is None or number > self.above)
        little = (self.most is None or number <= self.most) and (self.below is None or number < self.below)
        return math.isfinite(number) and enough and little

    @property
    def text(self) -> Text:
        """What it takes, to stand behind "takes"."""
        plain = self._plain
        return plain if self.also is None else say("{also}, or {plain}", also=_short(self.also), plain=plain)

    @property
    def _plain(self) -> Text:
        low, high = (_short(one) for one in (self.above if self.least is None else self.least, self.most or self.below))
        if self.most is None and self.below is None:
            return say("{least} or more", least=low)
        if self.above is not None:
            return say("a number above {low}, up to {high}", low=low, high=high)
        if self.below is not None:
            return say("a number from {low} on, below {high}", low=low, high=high)
        return say("a number from {low} to {high}", low=low, high=high)


@functools.cache
def limits() -> Mapping[str, Limit]:
    """By the full name of the option."""
    tree: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    found = [Limit(**{**one, "source": tree["sources"][one["source"]]}) for one in tree["limits"]]
    return {one.name: one for one in found}


def _short(number: float | None) -> str:
    return "" if number is None else f"{number:g}"
