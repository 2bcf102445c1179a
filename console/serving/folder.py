"""The little that must be read of a folder to judge the model in it, here or on a machine far away."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

MOST = 64 * 1024 * 1024
"""Bytes read at once; the largest tokenizers, weight indexes and headers seen stay below."""


class Folder(Protocol):
    """Reading one folder. Every method raises OSError when it cannot."""

    def list(self, below: str = "") -> Mapping[str, int]:
        """Names of the files in it, or in a folder below it -> their sizes in bytes."""
        ...

    def unreadable(self) -> frozenset[str]:
        """Names of files that are there but may not be read, or are links to nothing."""
        ...

    def links(self) -> Mapping[str, str]:
        """Names of files that are links to somewhere outside the folder -> where they lead, as a whole path."""
        ...

    def read(self, name: str, offset: int = 0, length: int = MOST) -> bytes:
        """At most `length` bytes of a file from `offset` on."""
        ...


@dataclass(frozen=True)
class LocalFolder:
    """A folder of this machine. Satisfies Folder."""

    path: Path

    def list(self, below: str = "") -> Mapping[str, int]:
        return {one.name: one.stat().st_size for one in sorted((self.path / below).iterdir()) if one.is_file()}

    def unreadable(self) -> frozenset[str]:
        return frozenset(one.name for one in self.path.iterdir() if not one.is_dir() and not os.access(one, os.R_OK))

    def links(self) -> Mapping[str, str]:
        real = self.path.resolve()
        found = {one.name: one.resolve() for one in sorted(self.path.iterdir()) if one.is_symlink() and one.is_file()}
        return {name: str(target) for name, target in found.items() if not target.is_relative_to(real)}

    def read(self, name: str, offset: int = 0, length: int = MOST) -> bytes:
        with (self.path / name).open("rb") as file:
            file.seek(offset)
            return file.read(length)
