"""The entries of the catalog: the files beside this module, and over them those a user wrote.

A file of the user has the same form. An entry whose key is known replaces the fields it names, any other is added;
either way it says its own source.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from console.catalog.shapes import DATE, SECTIONS, Section
from console.text import Text, say, verbatim

FOLDER = Path(__file__).parent
FILES = ("releases.yaml", "packages.yaml", "systems.yaml", "ascend.yaml", "traps.yaml", "claims.yaml")
FRAME = ("version", "as_of")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: in which file, entry and field ("" where it is about the whole), and what."""

    file: str
    entry: str
    field: str
    problem: Text

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"

    @property
    def place(self) -> str:
        return " / ".join(part for part in (self.file, self.entry, self.field) if part)


@dataclass(frozen=True)
class Entry:
    """One entry as it counts, and the file that had the last word."""

    section: str
    key: str
    file: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Tree:
    """All entries by section and key, the files they are from, and what could not be read."""

    entries: Mapping[str, Mapping[str, Entry]]
    files: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    def of(self, section: str) -> list[Mapping[str, Any]]:
        return [entry.values for entry in self.entries.get(section, {}).values()]

    def each(self) -> Iterator[Entry]:
        for section in self.entries.values():
            yield from section.values()


@dataclass
class _Reading:
    entries: dict[str, dict[str, Entry]] = field(default_factory=lambda: {name: {} for name in SECTIONS})
    faults: list[Fault] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def file(self, path: Path, *, is_own: bool) -> None:
        name = path.name if is_own else f"console/catalog/{path.name}"
        self.files.append(name)
        try:
            tree = _parsed(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            self._fault(name, "", "", say("It cannot be read: {error}", error=verbatim(" ".join(str(error).split()))))
            return
        if not isinstance(tree, dict):
            self._fault(name, "", "", say("It has to hold sections, such as releases: and a list below it."))
            return
        if not DATE.fits(tree.get("as_of")):
            self._fault(name, "", "as_of", say("Wanted: {wanted}.", wanted=DATE.wanted))
        for section, rows in tree.items():
            if section not in FRAME:
                self._section(name, str(section), rows, is_own=is_own)

    def _section(self, file: str, name: str, rows: object, *, is_own: bool) -> None:
        if name not in SECTIONS:
            known = verbatim(", ".join(SECTIONS))
            self._fault(file, name, "", say("There is no such section. There are: {names}.", names=known))
            return
        if not isinstance(rows, list):
            self._fault(file, name, "", say("A section is a list of entries, each beginning with a dash."))
            return
        found: dict[str, Entry] = {}
        for number, row in enumerate(rows, 1):
            key = _key(SECTIONS[name], row)
            if key is None or not isinstance(row, dict):
                key_field = " + ".join(SECTIONS[name].key)
                entry = f"{name} {number}"
                self._fault(file, entry, key_field, say("Every entry of this section needs this field."))
            elif key in found:
                self._fault(file, f"{name} {key}", "", say("This entry stands here twice."))
            else:
                found[key] = self._merged(name, key, file, row, is_own=is_own)
        new = {key: entry for key, entry in found.items() if key not in self.entries[name]}
        kept = {key: found.get(key, entry) for key, entry in self.entries[name].items()}
        self.entries[name] = {**new, **kept} if is_own else {**kept, **new}

    def _merged(self, section: str, key: str, file: str, row: Mapping[str, Any], *, is_own: bool) -> Entry:
        before = self.entries[section].get(key)
        if before is None:
            return Entry(section, key, file, row)
        if not is_own:
            self._fault(file, f"{section} {key}", "", say("This entry stands in two files."))
        if "source" not in row:
            self._fault(file, f"{section} {key}", "source", say("Say where the changed fields come from."))
        return Entry(section, key, file, {**before.values, **row})

    def _fault(self, file: str, entry: str, name: str, problem: Text) -> None:
        self.faults.append(Fault(file, entry, name, problem))


@functools.lru_cache(maxsize=16)
def _parsed(text: str) -> object:
    """The same text is parsed once; nobody changes what comes out."""
    return yaml.load(text, Loader=_Loader)


def read(own: Path | None = None, folder: Path = FOLDER) -> Tree:
    """The files of `folder`, then every *.yaml of the user's folder `own` in the order of their names."""
    reading = _Reading()
    for name in FILES:
        reading.file(folder / name, is_own=False)
    for path in own_files(own):
        reading.file(path, is_own=True)
    return Tree(reading.entries, tuple(reading.files), tuple(reading.faults))


def own_files(own: Path | None) -> list[Path]:
    """The user's own files; a folder that is not there has none."""
    return sorted(own.glob("*.yaml")) if own is not None and own.is_dir() else []


def shape_faults(tree: Tree) -> Iterator[Fault]:
    """Fields that are missing, unknown, or not of their kind."""
    for entry in tree.each():
        fields = SECTIONS[entry.section].fields
        at = f"{entry.section} {entry.key}"
        for name in sorted(entry.values.keys() - fields.keys()):
            yield Fault(entry.file, at, str(name), say("There is no such field."))
        for name, wanted in fields.items():
            if name not in entry.values:
                if not wanted.optional:
                    yield Fault(entry.file, at, name, say("This field is missing."))
            elif entry.values[name] is None and wanted.empty:
                continue
            elif not wanted.shape.fits(entry.values[name]):
                yield Fault(entry.file, at, name, say("Wanted: {wanted}.", wanted=wanted.shape.wanted))


def _key(section: Section, row: object) -> str | None:
    if not isinstance(row, dict):
        return None
    parts = []
    for name in section.key:
        value = row.get(name)
        value = value[0] if isinstance(value, list) and value else value
        if not isinstance(value, str) or not value:
            return None
        parts.append(value)
    return " ".join(parts)
