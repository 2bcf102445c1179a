"""What options, variables and additional-config keys mean on an Ascend host, and what articles get wrong."""

import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from console.catalog import parsers
from console.catalog.entries import Fault
from console.text import Text, render, say, verbatim

FILE = Path(__file__).with_name("flags.yaml")
FAMILIES = ("A2", "A3", "310P", "A5")
SECTIONS: Mapping[str, frozenset[str]] = {
    "options": frozenset(("name", "group", "en", "zh", "note", "chips", "source", "verified")),
    "wrong": frozenset(("name", "en", "zh", "instead", "replace", "source", "verified")),
    "variables": frozenset(("name", "what", "en", "zh", "value", "effect", "instead", "replace", "source", "verified")),
    "config": frozenset(("name", "en", "zh", "gone", "instead", "source", "verified")),
    "methods": frozenset(("name", "since", "families", "expands_since", "source", "verified")),
    "models": frozenset(("match", "en", "zh", "instead", "source", "verified")),
}
WHAT = ("ascend", "vllm", "plugin", "hccl", "system", "cuda")

Words = Mapping[str, str]
"""The same sentence by language: "en", "zh"."""
Said = Text | Words


def told(said: Said | None, language: str) -> str:
    """A sentence, of code or of a catalog, in a language; "" for None."""
    if said is None:
        return ""
    return render(said, language) if isinstance(said, Text) else said.get(language) or said["en"]


@dataclass(frozen=True)
class Flag:
    """One entry. `text` says what it means or, of what is wrong, what is wrong with it.

    replace   what it becomes: an option and its value, a variable, or a key of additional-config
    what      whose variable it is; no_effect: nothing reads it; gone: a key that is no longer read
    """

    name: str
    text: Words
    source: str
    verified: bool
    group: str = ""
    note: Words | None = None
    instead: Words | None = None
    replace: tuple[str, ...] = ()
    what: str = ""
    value: str = ""
    no_effect: bool = False
    gone: bool = False

    def instead_of(self, value: str) -> Words | None:
        """What to write instead, with the value that was given."""
        if self.instead is None:
            return None
        return {language: words.replace("{value}", value).strip() for language, words in self.instead.items()}


@dataclass(frozen=True)
class Method:
    """A value of --quantization; on families outside `families` it expands to BF16 since `expands_since`, if ever."""

    name: str
    since: str
    families: tuple[str, ...]
    expands_since: str | None = None


@dataclass(frozen=True)
class Flags:
    """The whole file."""

    options: Mapping[str, Flag] = field(default_factory=dict)
    wrong: Mapping[str, Flag] = field(default_factory=dict)
    variables: Mapping[str, Flag] = field(default_factory=dict)
    config: Mapping[str, Flag] = field(default_factory=dict)
    methods: Mapping[str, Method] = field(default_factory=dict)
    models: tuple[Flag, ...] = ()

    def variable(self, name: str) -> Flag | None:
        """By its name, else by the longest beginning that the file names with a star."""
        if name in self.variables:
            return self.variables[name]
        starred = [one for key, one in self.variables.items() if key.endswith("*") and name.startswith(key[:-1])]
        return max(starred, key=lambda one: len(one.name), default=None)

    def no_model(self, name: str) -> Flag | None:
        """The entry of a model that does not exist."""
        return next((one for one in self.models if re.search(one.name, name, re.IGNORECASE)), None)


def since(option: str) -> str | None:
    """The oldest vllm-ascend release that knows an option, None if none does."""
    known = parsers.knowing(option)
    return known[-1] if known else None


def until(option: str) -> str | None:
    """The newest release that knows it, None while the newest of all does."""
    known = parsers.knowing(option)
    return known[0] if known and known[0] != parsers.releases()[0] else None


def near(word: str, names: Iterable[str]) -> str | None:
    """The name that is probably meant by a mistyped one."""
    found = difflib.get_close_matches(word, list(names), n=1, cutoff=0.75)
    return found[0] if found else None


@functools.cache
def flags() -> Flags:
    """The file as values."""
    tree = _tree()
    sources: Mapping[str, str] = tree["sources"]
    named = {
        section: {one["name"]: _flag(one, sources) for one in tree[section]}
        for section in ("options", "wrong", "variables", "config")
    }
    methods = {
        one["name"]: Method(one["name"], one["since"], tuple(map(str, one["families"])), one.get("expands_since"))
        for one in tree["methods"]
    }
    models = tuple(_flag({**one, "name": one["match"]}, sources) for one in tree["models"])
    return Flags(**named, methods=methods, models=models)


def _flag(entry: Mapping[str, Any], sources: Mapping[str, str]) -> Flag:
    replace = entry.get("replace") or ()
    return Flag(
        name=entry["name"],
        text={"en": entry["en"], "zh": entry["zh"]},
        source=sources.get(entry["source"], entry["source"]),
        verified=entry["verified"],
        group=entry.get("group", ""),
        note=entry.get("note"),
        instead=entry.get("instead"),
        replace=(replace,) if isinstance(replace, str) else tuple(replace),
        what=entry.get("what", ""),
        value=str(entry.get("value", "")),
        no_effect=entry.get("effect") == "none",
        gone=bool(entry.get("gone")),
    )


@functools.cache
def _tree() -> Mapping[str, Any]:
    tree: Mapping[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return tree


def flaws(tree: Mapping[str, Any] | None = None) -> list[Fault]:
    """Everything wrong with flags.yaml: for the check of the catalog."""
    return list(_flaws(tree or _tree()))


def _flaws(tree: Mapping[str, Any]) -> Iterator[Fault]:
    for section, fields in SECTIONS.items():
        seen: set[str] = set()
        for number, entry in enumerate(tree.get(section) or (), 1):
            name = str(entry.get("name") or entry.get("match") or "")
            at = f"{section} {name or number}"
            if not name or name in seen:
                yield Fault(FILE.name, at, "name", say("Every entry needs a name of its own."))
            seen.add(name)
            for key in sorted(entry.keys() - fields):
                yield Fault(FILE.name, at, str(key), say("There is no such field."))
            yield from (Fault(FILE.name, at, key, problem) for key, problem in _entry_flaws(section, name, entry))


def _entry_flaws(section: str, name: str, entry: Mapping[str, Any]) -> Iterator[tuple[str, Text]]:
    needed = ("source", "verified") if section == "methods" else ("en", "zh", "source", "verified")
    for key in needed:
        if entry.get(key) in (None, ""):
            yield key, say("This field is missing.")
    for key in ("note", "instead"):
        if key in entry and set(entry[key]) != {"en", "zh"}:
            yield key, say("Wanted: {wanted}.", wanted=say("the same sentence twice, as en and zh"))
    if section == "options" and not parsers.knowing(name):
        yield "name", say("No release knows {name}.", name=verbatim(name))
    if section == "variables" and entry.get("what") not in WHAT:
        yield "what", say("Wanted: {wanted}.", wanted=verbatim(", ".join(WHAT)))
    if section == "methods" and set(map(str, entry.get("families") or ("",))) - set(FAMILIES):
        yield "families", say("Wanted: {wanted}.", wanted=verbatim(", ".join(FAMILIES)))
    if section == "wrong" and "instead" not in entry:
        yield "instead", say("This field is missing.")
