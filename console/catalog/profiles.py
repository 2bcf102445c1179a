"""What hosts must have, by way of running the pilot: profiles.yaml as values."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import yaml

from console.errors import NotFound
from console.text import say

FILE = Path(__file__).with_name("profiles.yaml")
Words = Mapping[str, str]
"""The same sentence by language: "en", "zh"."""


@dataclass(frozen=True)
class Limit:
    """One figure or list a check compares with, and where it comes from."""

    value: object
    source: str


@dataclass(frozen=True)
class Profile:
    """One way of running the pilot: which checks belong to it and their limits.

    based_on   id of the built-in profile that a person's own one was copied from; "" for a built-in one
    """

    id: str
    title: Words
    about: Words
    as_of: date
    checks: tuple[str, ...]
    limits: Mapping[str, Limit] = field(default_factory=dict)
    based_on: str = ""

    @property
    def origin(self) -> str:
        """The built-in profile that this is, or was copied from."""
        return self.based_on or self.id

    def title_in(self, language: str) -> str:
        return self.title.get(language) or self.title["en"]

    def entry(self) -> dict[str, object]:
        """In the form of an entry of profiles.yaml, as JSON can hold it."""
        return {
            "id": self.id,
            "based_on": self.based_on,
            "as_of": self.as_of.isoformat(),
            "title": dict(self.title),
            "about": dict(self.about),
            "checks": list(self.checks),
            "limits": {name: {"value": one.value, "source": one.source} for name, one in self.limits.items()},
        }

    def number(self, name: str) -> float:
        value = self.limits[name].value
        assert isinstance(value, int | float)
        return value

    def text(self, name: str) -> str:
        return str(self.limits[name].value)

    def mapping(self, name: str) -> Mapping[str, object]:
        value = self.limits[name].value
        assert isinstance(value, dict)
        return value

    def version(self, name: str) -> tuple[int, int]:
        return _version(self.limits[name].value)

    def versions(self, name: str) -> tuple[tuple[int, int], tuple[int, int]]:
        """The lowest and the highest version."""
        lowest, highest = self.words(name)
        return _version(lowest), _version(highest)

    def words(self, name: str) -> tuple[str, ...]:
        value = self.limits[name].value
        assert isinstance(value, list)
        return tuple(map(str, value))

    def words_for(self, name: str, key: str) -> tuple[str, ...]:
        """The list that a limit has for `key` (such as a machine); empty for a key it does not know."""
        value = self.limits[name].value
        assert isinstance(value, dict)
        return tuple(map(str, value.get(key, ())))


class _Profiles(Mapping[str, Profile]):
    """All profiles by id, read when first asked for."""

    def __getitem__(self, key: str) -> Profile:
        return _read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_read())

    def __len__(self) -> int:
        return len(_read())


PROFILES: Mapping[str, Profile] = _Profiles()


def profile(profile_id: str) -> Profile:
    """Raises NotFound for an id that profiles.yaml does not have."""
    try:
        return PROFILES[profile_id]
    except KeyError:
        names = ", ".join(PROFILES)
        raise NotFound(say("There is no profile {id}. There are: {names}.", id=profile_id, names=names)) from None


@functools.cache
def _read() -> dict[str, Profile]:
    entries = yaml.safe_load(FILE.read_text(encoding="utf-8"))["profiles"]
    return {entry["id"]: from_entry(entry) for entry in entries}


def from_entry(entry: Mapping[str, object]) -> Profile:
    """The profile that an entry of profiles.yaml, or of the same form, describes."""
    limits, checks, title, about = entry["limits"], entry["checks"], entry["title"], entry["about"]
    assert isinstance(limits, dict)
    assert isinstance(checks, list)
    assert isinstance(title, dict)
    assert isinstance(about, dict)
    return Profile(
        id=str(entry["id"]),
        title=title,
        about=about,
        as_of=date.fromisoformat(str(entry["as_of"])),
        checks=tuple(checks),
        limits={name: Limit(limit["value"], limit["source"]) for name, limit in limits.items()},
        based_on=str(entry.get("based_on") or ""),
    )


def _version(words: object) -> tuple[int, int]:
    major, minor = str(words).split(".")
    return int(major), int(minor)
