"""Files of this machine on their way into a bundle, and the wheels that are in it already."""

from collections.abc import Callable, Collection
from pathlib import Path

from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from console.bundles.index import Wish
from console.errors import DataError
from console.hosts.transfer import sha256_of
from console.text import say

BLOCK = 4 * 1_048_576


def listed(folder: Path) -> list[Path]:
    """The files of a model folder; hidden ones, and the caches of download tools, stay out."""
    return [
        one
        for one in sorted(folder.rglob("*"))
        if one.is_file() and not any(part.startswith(".") for part in one.relative_to(folder).parts)
    ]


def copied(source: Path, target: Path, told: Callable[[int], None]) -> None:
    """A copy that has its name only when it is whole; one of the same size and a younger time counts as whole."""
    try:
        there = target.stat() if target.is_file() else None
        size, changed = source.stat().st_size, source.stat().st_mtime
        if there is not None and there.st_size == size and there.st_mtime >= changed:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        part, done = target.with_name(f"{target.name}.part"), 0
        with source.open("rb") as given, part.open("wb") as taken:
            while block := given.read(BLOCK):
                taken.write(block)
                told(done := done + len(block))
        part.replace(target)
    except OSError as error:
        raise DataError(
            say("{path} cannot be written: {error}", path=str(target), error=error.strerror or str(error))
        ) from error


def wheel_of(folder: Path, wish: Wish, accepted: Collection[Tag]) -> Path | None:
    """A wheel of this release in `folder` that fits the host and has a hash that is allowed."""
    wanted = set(accepted)
    for path in sorted(folder.glob("*.whl")):
        if fits(path.name, wish, wanted) and (not wish.sha256 or sha256_of(path) in wish.sha256):
            return path
    return None


def fits(file: str, wish: Wish, accepted: Collection[Tag]) -> bool:
    """Whether a wheel is of this release and loads on a host with these tags."""
    try:
        name, version, _, tags = parse_wheel_filename(file)
    except InvalidWheelFilename:
        return False
    same = version == Version(wish.version) or str(version).partition("+")[0] == wish.version
    return name == wish.name and same and any(tag in accepted for tag in tags)
