"""Whether a bundle folder is what its manifest says: what is missing, damaged, partial, foreign or unexpected."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from console.bundles import brought, manifest, taking
from console.bundles.brought import foreign, joined
from console.bundles.manifest import Entry, Manifest
from console.hosts.transfer import sha256_of
from console.text import Text, say


class Trouble(StrEnum):
    """MISSING and DAMAGED: of what the manifest lists. TO_BRING: what it says a person has to bring.
    PARTIAL: a transfer that has not ended. FOREIGN: for another host. UNEXPECTED: nobody asked for it."""

    MISSING = "missing"
    DAMAGED = "damaged"
    TO_BRING = "to_bring"
    PARTIAL = "partial"
    FOREIGN = "foreign"
    UNEXPECTED = "unexpected"


@dataclass(frozen=True)
class Finding:
    """One file that is not as it should be. `path` is relative to the bundle."""

    path: str
    trouble: Trouble
    text: Text

    def plain(self) -> dict[str, str]:
        """For JSON."""
        return {"path": self.path, "trouble": self.trouble, "text": str(self.text)}


def verify(folder: Path, *, told: Callable[[str], None] = lambda path: None, hashes: bool = True) -> list[Finding]:
    """Everything wrong, in the order of the manifest, then of the names. Without `hashes` only sizes are compared.

    InvalidInput when there is no manifest.
    """
    whole = manifest.required(folder)
    return [*_listed(folder, whole, told, hashes), *_to_bring(folder, whole, hashes), *_others(folder, whole)]


def _listed(folder: Path, whole: Manifest, told: Callable[[str], None], hashes: bool) -> Iterator[Finding]:
    for one in whole.files:
        told(one.path)
        path = folder / one.path
        if not path.is_file():
            yield Finding(one.path, Trouble.MISSING, say("It is not there; the manifest lists it."))
        elif (text := _damaged(path, one, hashes)) is not None:
            yield Finding(one.path, Trouble.DAMAGED, text)
        elif (text := foreign(one.path, whole.order)) is not None:
            yield Finding(one.path, Trouble.FOREIGN, text)


def _damaged(path: Path, one: Entry, hashes: bool) -> Text | None:
    size = path.stat().st_size
    if size != one.size:
        return say("It has {there} bytes, the manifest says {whole}.", there=size, whole=one.size)
    if hashes and sha256_of(path) != one.sha256:
        return say("Its SHA-256 is not that of the manifest: the content has changed.")
    return None


def _to_bring(folder: Path, whole: Manifest, hashes: bool) -> Iterator[Finding]:
    for one in whole.missing:
        path = taking.there(folder, one, whole.order)
        wrong = taking.wrong_with(path, whole.order) if path is not None and hashes else None
        here = say("It is there now, but not part of the bundle yet. `pilot bundle take` looks at it and takes it in.")
        yield Finding(one.path, Trouble.TO_BRING, one.why if path is None else wrong or here)


def _others(folder: Path, whole: Manifest) -> Iterator[Finding]:
    """Everything the manifest does not list; what may be a file that is awaited says so."""
    known = {one.path for one in whole.files} | {manifest.NAME}
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        name = path.relative_to(folder).as_posix()
        if name in known or path.name.startswith("."):
            continue
        if path.name.endswith(".part"):
            yield Finding(name, Trouble.PARTIAL, say("A transfer that has not ended. Build the bundle again to go on."))
        elif path.name.endswith(brought.UNFINISHED):
            text = say("A download that has not ended. When it has, the program that fetches it gives it its name.")
            yield Finding(name, Trouble.PARTIAL, text)
        elif (text_of := foreign(name, whole.order)) is not None:
            yield Finding(name, Trouble.FOREIGN, text_of)
        elif not any(fnmatchcase(name, one.pattern) for one in whole.missing):
            yield Finding(name, Trouble.UNEXPECTED, _unexpected(path, whole))


def _unexpected(path: Path, whole: Manifest) -> Text:
    nobody = say("The manifest does not list it; it is not sent to hosts.")
    likely = brought.told(path, [one.path for one in whole.missing], whole.order)
    return nobody if likely is None else joined([likely, nobody])
