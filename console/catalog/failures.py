"""What failures look like in a log, what causes them, and what to do about each, with its source."""

import functools
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from console.catalog.entries import Fault
from console.text import Text, say, verbatim

FILE = Path(__file__).with_name("failures.yaml")
STAGES = ("host", "install", "start", "load", "serve")
NEEDED = ("id", "group", "stages", "match", "cause", "fix", "example", "source", "verified")
FIELDS = frozenset((*NEEDED, "follows", "last", "commands"))
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Words = Mapping[str, str]
"""The same sentence by language: "en", "zh"; its places are filled from what was matched."""


@dataclass(frozen=True)
class Failure:
    """One way to fail. `follows`: printed because of another failure; `last`: it counts only at the end of a log."""

    id: str
    group: str
    stages: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    cause: Words
    fix: Words
    commands: tuple[str, ...]
    example: str
    source: str
    verified: bool
    follows: bool = False
    last: bool = False

    def match(self, line: str) -> re.Match[str] | None:
        """What one of the patterns finds in a line."""
        return next((found for one in self.patterns if (found := one.search(line))), None)


@functools.cache
def failures() -> tuple[Failure, ...]:
    """All of them, in the order of the file, which is the order of preference for one line."""
    return tuple(map(_failure, _tree()["failures"]))


def _failure(entry: Mapping[str, Any]) -> Failure:
    return Failure(
        id=entry["id"],
        group=entry["group"],
        stages=tuple(entry["stages"]),
        patterns=tuple(map(re.compile, entry["match"])),
        cause=entry["cause"],
        fix=entry["fix"],
        commands=tuple(entry.get("commands", ())),
        example=entry["example"],
        source=entry["source"],
        verified=entry["verified"],
        follows=entry.get("follows", False),
        last=entry.get("last", False),
    )


@functools.cache
def _tree() -> Mapping[str, Any]:
    tree: Mapping[str, Any] = yaml.load(FILE.read_text(encoding="utf-8"), Loader=_Loader)
    return tree


def flaws(tree: Mapping[str, Any] | None = None) -> list[Fault]:
    """Everything wrong with failures.yaml: for the check of the catalog."""
    return list(_flaws((tree or _tree())["failures"]))


def _flaws(entries: list[Mapping[str, Any]]) -> Iterator[Fault]:
    seen: set[str] = set()
    for number, entry in enumerate(entries, 1):
        name = str(entry.get("id") or number)
        if name in seen:
            yield Fault(FILE.name, name, "id", say("Every entry needs a name of its own."))
        seen.add(name)
        for key in sorted(entry.keys() - FIELDS):
            yield Fault(FILE.name, name, str(key), say("There is no such field."))
        missing = [key for key in NEEDED if entry.get(key) in (None, "", [])]
        yield from (Fault(FILE.name, name, key, say("This field is missing.")) for key in missing)
        if not missing:
            yield from (Fault(FILE.name, name, key, problem) for key, problem in _wrong(entry))


def _wrong(entry: Mapping[str, Any]) -> Iterator[tuple[str, Text]]:
    if set(entry["stages"]) - set(STAGES):
        yield "stages", say("Wanted: {wanted}.", wanted=verbatim(", ".join(STAGES)))
    try:
        patterns = [re.compile(one) for one in entry["match"]]
    except re.error as error:
        yield "match", say("This is no regular expression: {error}", error=str(error))
        return
    for key in ("cause", "fix"):
        if set(entry[key]) != {"en", "zh"}:
            yield key, say("Wanted: {wanted}.", wanted=say("the same sentence twice, as en and zh"))
        named = {place for words in entry[key].values() for place in places(words)}
        if any(named - one.groupindex.keys() for one in patterns):
            yield key, say("Not every pattern fills every place of this sentence.")
    if not any(one.search(line) for one in patterns for line in entry["example"].splitlines()):
        yield "example", say("No pattern finds this example.")


def places(words: str) -> set[str]:
    """The names of the places of a sentence."""
    return {name for _, name, _, _ in string.Formatter().parse(words) if name}
