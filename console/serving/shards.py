"""What a safetensors file says of itself in its header, and whether the file is as long as it says.

The first eight bytes give the length of a JSON header with every tensor's type, shape and offsets.
"""

import json
import math
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from console.serving.folder import Folder
from console.serving.problems import Problem, Trap, pointer
from console.text import say

MOST_HEADER = 100_000_000
"""Bytes; a longer header is not one (the format's own limit)."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class Shard:
    """`tensors` maps names to how many numbers each holds; empty when `problem` says why the file cannot be used.

    types  how many numbers are stored in each format, as the header spells it: BF16, F32, I8, F8_E4M3
    """

    tensors: Mapping[str, int] = field(default_factory=dict)
    problem: Problem | None = None
    types: Mapping[str, int] = field(default_factory=dict)


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
    if whole != size:
        return Shard(problem=_cut(name, size, whole))
    types: Counter[str] = Counter()
    for key, one in tensors.items():
        types[str(one.get("dtype", "?"))] += counts[key]
    return Shard(counts, types=types)


def _broken(name: str, error: Exception) -> Problem:
    return Problem(
        Trap.BROKEN_SHARD,
        True,
        say("{name} is not a whole safetensors file ({error}).", name=name, error=str(error)[:100]),
        say("vLLM stops when it loads it."),
        say("Copy it again."),
    )


def _cut(name: str, size: int, whole: int) -> Problem:
    return Problem(
        Trap.CUT_SHARD,
        True,
        say("{name} has {size} bytes where its own header says {whole}.", name=name, size=str(size), whole=str(whole)),
        say("It was cut off or is still being copied, and vLLM stops when it loads it."),
        say("Copy it again."),
    )
