"""The parts that a pasted text is taken apart into, and what became of each word."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from console.catalog import parsers
from console.catalog.flags import Said
from console.masking import mask
from console.text import Text, say

HIDDEN = "***"
"""Stands for a secret that was pasted."""


@dataclass(frozen=True)
class Word:
    """One word of a command. text: as a shell hands it on; raw: as it was pasted, with its quotes."""

    text: str
    raw: str

    @staticmethod
    def plain(text: str) -> "Word":
        return Word(text, text)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and what to write instead. token: the word as pasted; value: what stood behind it."""

    token: str
    problem: Said
    instead: Said | None = None
    value: str = ""


@dataclass(frozen=True)
class Ignored:
    """One word that changes nothing about the server, and why."""

    token: str
    why: Said


@dataclass(frozen=True)
class Given:
    """One option as it was given. name: in full if it could be told, with dashes; token: as pasted."""

    token: str
    name: str
    values: tuple[Word, ...] = ()

    @property
    def value(self) -> str:
        return " ".join(word.text for word in self.values)

    @property
    def raw(self) -> str:
        """The values as they were pasted."""
        return " ".join(word.raw for word in self.values)


@dataclass
class Pasted:
    """What a text holds, before it is judged. `taken`: words that became a setting, as pasted."""

    kind: str = ""
    command: str = ""
    model: Word | None = None
    words: list[Word] = field(default_factory=list)
    keywords: list[Given] = field(default_factory=list)
    env: dict[str, tuple[str, str]] = field(default_factory=dict)
    image: str = ""
    network: str = ""
    host: str = ""
    port: int | None = None
    shm_gib: int | None = None
    device_ids: tuple[int, ...] = ()
    mounts: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    shared_devices: list[str] = field(default_factory=list)
    is_npu_container: bool = False
    is_privileged: bool = False
    is_host_memory: bool = False
    is_local: bool = False
    cut: bool = False
    taken: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)

    def take(self, *tokens: str) -> None:
        self.taken += tokens

    def variable(self, name: str, value: str, token: str) -> None:
        """A variable that the text sets; of several with one name the last one counts."""
        if name in self.env and self.env[name][0] != value:
            self.ignore(say("It is set again later, and the last one counts."), [name])
        self.env[name] = (value, token)

    def find(self, token: str, problem: Said, instead: Said | None = None, value: str = "") -> None:
        self.findings.append(Finding(mask(token), problem, instead, mask(value)))

    def ignore(self, why: Text, tokens: Iterable[str]) -> None:
        self.ignored += [Ignored(mask(token), why) for token in tokens if token]


@dataclass
class Settings:
    """What a paste comes to on one release and chip.

    fields    of ServeSpec, only those that were stated; tokens: the word each came from
    extra     options without a field, as they will be written; switched: switches that go with an option, by name
    carried   options and variables that are carried on, with the word each came from
    open      settings whose value still has to be filled in
    """

    pasted: Pasted
    release: str
    family: str | None
    fields: dict[str, Any] = field(default_factory=dict)
    extra: list[str] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)
    switched: dict[str, str] = field(default_factory=dict)
    carried: dict[str, str] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)

    @property
    def parser(self) -> parsers.Parser:
        return parsers.parser_of(self.release)

    def put(self, name: str, value: object, token: str) -> None:
        self.fields[name] = value
        self.tokens[name] = token

    def add(self, name: str, more: dict[str, Any], token: str) -> None:
        """Entries to a setting that is a mapping."""
        self.put(name, _merged(self.fields.get(name, {}), more), token)


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """`one` with the entries of `other`, groups entry by entry."""
    both = {key: _merged(one[key], other[key]) for key in one.keys() & other.keys()
            if isinstance(one[key], dict) and isinstance(other[key], dict)}  # fmt: skip
    return {**one, **other, **both}
