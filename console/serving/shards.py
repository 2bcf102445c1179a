"""What a safetensors file says of itself in its header, and whether the file is as long as it says.

The first eight bytes give the length of a JSON header with every tensor's type, shape and offsets.
"""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from console.serving.folder import Folder
from console.text import Text, say

MOST_HEADER = 100_000_000
"""Bytes; a longer header is not one (the format's own limit)."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class Shard:
    """`tensors` maps names to how many numbers each holds; empty when `problem` says why the file cannot be used."""

    tensors: Mapping[str, int] = field(default_factory=dict)
    problem: Text | None = None


def read_shard(files: Folder, name: str, size: int) -> Shard:
    """Two small reads, however large the file is."""
    try:
        start = files.read(name, 0, 64)
        if start.startswith(LFS_POINTER):
            return Shard(problem=pointer(name))
        length = struct.unpack("<Q", start[:8])[0]
        if not 2 <= length <= MOST_HEADER:
            raise ValueError("it does not begin like one")
        header = json.loads(files.read(name, 8, length))
        tensors = {key: one for key, one in header.items() if key != "__metadata__"}
        whole = 8 + length + max((int(one["data_offsets"][1]) for one in tensors.values()), default=0)
        counts = {key: math.prod(map(int, one["shape"])) for key, one in tensors.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, struct.error) as error:
        return Shard(problem=_broken(name, error))
    return Shard(counts) if whole == size else Shard(problem=_cut(name, size, whole))


def pointer(name: str) -> Text:
    return say(
        "{name} is only a pointer of Git LFS, not the file itself. Fetch the files with `git lfs pull`, or "
        "download the model again.",
        name=name,
    )


def _broken(name: str, error: Exception) -> Text:
    return say("{name} is not a whole safetensors file ({error}). Copy it again.", name=name, error=str(error)[:100])


def _cut(name: str, size: int, whole: int) -> Text:
    return say(
        "{name} has {size} bytes where its own header says {whole}: it was cut off or is still being "
        "copied. Copy it again.",
        name=name,
        size=str(size),
        whole=str(whole),
    )
