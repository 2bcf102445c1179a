"""Whether a bundle folder is what its manifest says: what is missing, damaged, partial, foreign or unexpected."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from console.bundles import manifest, vendor
from console.bundles.index import tags
from console.bundles.manifest import Entry, Manifest, Order
from console.hosts.transfer import sha256_of
from console.text import Text, say, verbatim


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
    return [*_listed(folder, whole, told, hashes), *_to_bring(folder, whole), *_others(folder, whole)]


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


def _to_bring(folder: Path, whole: Manifest) -> Iterator[Finding]:
    for one in whole.missing:
        if any(folder.glob(one.path.replace("<version>", "*"))) and "*" not in one.path and "/" not in one.path:
            text = say("It is there now, but was not judged yet: build the bundle again. {why}", why=one.why)
            yield Finding(one.path, Trouble.TO_BRING, text)
        else:
            yield Finding(one.path, Trouble.TO_BRING, one.why)


def _others(folder: Path, whole: Manifest) -> Iterator[Finding]:
    known = {one.path for one in whole.files} | {manifest.NAME}
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        name = path.relative_to(folder).as_posix()
        awaited = any(fnmatchcase(name, one.path.replace("<version>", "*")) for one in whole.missing)
        if name in known or awaited or path.name.startswith("."):
            continue
        if path.name.endswith(".part"):
            yield Finding(name, Trouble.PARTIAL, say("A transfer that has not ended. Build the bundle again to go on."))
        elif (text := foreign(name, whole.order)) is not None:
            yield Finding(name, Trouble.FOREIGN, text)
        else:
            yield Finding(name, Trouble.UNEXPECTED, say("The manifest does not list it; it is not sent to hosts."))


def foreign(path: str, order: Order) -> Text | None:
    """Why a file does not fit the host the bundle is for, by its name alone."""
    name = path.rsplit("/", 1)[-1]
    if not name.endswith(".whl"):
        return vendor.strangeness(name, order)
    try:
        _, _, _, of = parse_wheel_filename(name)
    except InvalidWheelFilename:
        return say("{name} is no name of a wheel.", name=verbatim(name))
    if any(tag in of for tag in tags(order.arch, order.python, order.glibc)):
        return None
    return say(
        "{name} does not fit Python {python} on {arch} with glibc {glibc}.",
        name=verbatim(name),
        python=order.python,
        arch=order.arch,
        glibc=order.glibc,
    )
