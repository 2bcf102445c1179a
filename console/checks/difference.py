"""What is different between two checklists, or between two sets of facts: of two times, or of two hosts."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from console.checks.check import CHECKS, Judged
from console.facts.probe import Facts
from console.facts.words import ALL_TITLES, in_words
from console.text import Text, render

FACT_SLACK: Mapping[str, float] = {
    "clock": math.inf, "meminfo": 0.1, "rooms": 0.1, "npu_tool": 0.25, "npu_common": 0.25, "npu_power": 0.25,
    "npu_usages": 0.25, "npu_memory": 0.25,
}  # fmt: skip
"""Part by which the figures of a fact move by themselves."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Kind(StrEnum):
    """What became of a check from the first list to the second."""

    SAME = "same"
    LEVEL = "level"  # another level
    SEEN = "seen"  # the same level, but something else was seen
    NEW = "new"  # only the second list has it
    GONE = "gone"  # only the first list has it


@dataclass(frozen=True)
class Difference:
    """One check in two lists; `was` or `now` is None where a list does not have it."""

    kind: Kind
    was: Judged | None
    now: Judged | None

    @property
    def either(self) -> Judged:
        found = self.now or self.was
        assert found is not None
        return found


@dataclass(frozen=True)
class FactDifference:
    """One fact of two hosts in words; None where it was not asked for."""

    name: str
    title: Text
    is_same: bool
    left: Text | None
    right: Text | None


def differences(was: Sequence[Judged], now: Sequence[Judged]) -> list[Difference]:
    """Every check of both lists with what became of it, in the order of the second."""
    before, after = {one.name: one for one in was}, {one.name: one for one in now}
    names = [*after, *(name for name in before if name not in after)]
    return [_difference(before.get(name), after.get(name)) for name in names]


def _difference(was: Judged | None, now: Judged | None) -> Difference:
    if was is None or now is None:
        return Difference(Kind.NEW if was is None else Kind.GONE, was, now)
    if was.standing != now.standing:
        return Difference(Kind.LEVEL, was, now)
    slack = CHECKS[now.name].slack if now.name in CHECKS else 0.0
    same = alike(was.verdict.seen, now.verdict.seen, slack)
    return Difference(Kind.SAME if same else Kind.SEEN, was, now)


def fact_differences(left: Facts, right: Facts) -> list[FactDifference]:
    """Every fact that one of the two was asked for, with whether both say the same."""
    found = []
    for name, title in ALL_TITLES.items():
        words = [_words(facts, name) for facts in (left, right)]
        if any(words):
            one, other = words
            same = one is not None and other is not None and alike(one, other, FACT_SLACK.get(name, 0.0))
            found.append(FactDifference(name, title, same, one, other))
    return found


def _words(facts: Facts, name: str) -> Text | None:
    if name not in facts.raws:
        return None
    return in_words(name, facts.values[name]) if name in facts.values else facts.reason(name)


def alike(one: Text, other: Text, slack: float = 0.0) -> bool:
    """Whether two sentences say the same, but for figures that differ by no more than this part of the larger."""
    first, second = render(one, "en"), render(other, "en")
    if first == second:
        return True
    if not slack or _NUMBER.sub("", first) != _NUMBER.sub("", second):
        return False
    pairs = zip(_NUMBER.findall(first), _NUMBER.findall(second), strict=True)
    return all(_near(float(a), float(b), slack) for a, b in pairs)


def _near(a: float, b: float, slack: float) -> bool:
    return math.isinf(slack) or abs(a - b) <= slack * max(a, b)
