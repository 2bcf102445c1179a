"""What a rehearsal host gets of the machine's folders as its own, while the machine lives on beside it."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

COPIED_BYTES = 1_048_576
"""Files of /etc up to this size are copied where they belong to somebody else, so that its root may change them."""


def take(lower: Path, upper: Path, levels: int) -> None:
    """Make folders of somebody else the host's own in its upper folder, and in /etc the files too.

    What the host removed itself stays removed, for in the upper folder a mark stands in its place.
    """
    if levels < 0 or not lower.is_dir() or not os.access(lower, os.R_OK | os.X_OK):
        return  # not for us to read: it stays as it is
    for entry in lower.iterdir():
        there = upper / entry.name
        if to_leave(entry):
            continue
        if entry.is_dir() and os.access(entry, os.R_OK | os.X_OK):
            if not os.path.lexists(there):
                there.mkdir(parents=True)
                like(entry, there)
            if there.is_dir():
                take(entry, there, levels - 1)
        elif lower.is_relative_to("/etc") and not os.path.lexists(there):
            copy(entry, there)


def to_leave(entry: Path) -> bool:
    """Links, what is ours, and what has vanished since it was listed."""
    try:
        return entry.is_symlink() or entry.lstat().st_uid == os.getuid()
    except FileNotFoundError:
        return True


def copy(entry: Path, there: Path) -> None:
    with suppress(FileNotFoundError):  # as /etc/subuid+, which useradd has for a moment
        if entry.is_file() and entry.stat().st_size <= COPIED_BYTES and os.access(entry, os.R_OK):
            shutil.copyfile(entry, there)
            there.chmod(stat.S_IMODE(entry.stat().st_mode) | 0o600)


def like(folder: Path, there: Path) -> None:
    there.chmod(stat.S_IMODE(folder.stat().st_mode) | 0o700)


def link(entry: Path, there: Path) -> None:
    if not os.path.lexists(there):
        there.symlink_to(entry.readlink())
