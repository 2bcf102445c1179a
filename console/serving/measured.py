"""What a vLLM server said of its memory while it started, and how far the estimate was from it.

Nothing is stored twice: the log of each attempt is kept, and this reads it again whenever it is wanted.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TypeVar

from console.serving.room import Room, Sum

Number = TypeVar("Number", int, float)
GIB = 1024**3
_KV_TOKENS = re.compile(r"\w+ KV cache size: ([\d,]+) tokens")
_CONCURRENCY = re.compile(r"[Mm]aximum concurrency for ([\d,]+) tokens per request: ([\d.]+)x")
_KV_GIB = re.compile(r"Available KV cache memory: (-?[\d.]+) ?Gi?B")
_KV_BYTES = re.compile(r"Available memory: (-?\d+), total memory: (\d+)")
_CPU = re.compile(r"(?:Auto|Explicitly) set \(([\d.]+)/([\d.]+)\) GiB for KV cache")
"""Of vLLM's CPU worker (vllm/v1/worker/cpu_worker.py): the cache of one rank, and the memory of its NUMA node."""
_WEIGHTS = re.compile(r"(?:Loading model weights took|Model loading took|model weights take) *([\d.]+) ?Gi?B")
_FREE = re.compile(r"Free memory on device(?: npu:\d+)? \(([\d.]+)/([\d.]+) GiB\)")
_TOTAL = re.compile(r"total_(?:gpu|npu)_memory \(([\d.]+) ?GiB\)|; ([\d.]+) GiB total capacity;")
_GRAPHS = re.compile(r"Graph capturing finished in [\d.]+ secs?, took (-?[\d.]+) GiB")
_SHARE = re.compile(r"gpu_memory_utilization['\"]?[=:(] ?\(?([\d.]+)")


@dataclass(frozen=True)
class Measured:
    """Bytes of one device and tokens, as the log says them; None = it does not say.

    Of several ranks the tightest counts. What logs call GB is 2^30 bytes (vllm_ascend/worker/model_runner_v1.py).
    """

    kv_tokens: int | None = None
    kv_bytes: int | None = None
    weights: int | None = None
    total: int | None = None
    free_at_start: int | None = None
    graphs: int | None = None
    tokens_per_request: int | None = None
    concurrency: float | None = None
    utilization: float | None = None

    @property
    def reserve(self) -> int | None:
        """What went neither into weights nor into cache, of the share vLLM took."""
        if None in (self.total, self.utilization, self.weights, self.kv_bytes):
            return None
        assert self.total is not None
        assert self.utilization is not None
        return round(self.total * self.utilization) - (self.weights or 0) - (self.kv_bytes or 0)

    def to_json(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    @staticmethod
    def from_json(stored: Mapping[str, object]) -> "Measured":
        """The inverse of `to_json`; what is unknown or no number is left out."""
        known = {each.name for each in fields(Measured)}
        good = {name: value for name, value in stored.items() if name in known and type(value) in (int, float)}
        return Measured(**good)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Difference:
    """One figure both ways; error is the share by which the estimate is too high (negative: too low)."""

    figure: str
    estimated: float
    measured: float

    @property
    def error(self) -> float:
        return (self.estimated - self.measured) / abs(self.measured) if self.measured else float("inf")


def read_log(log: str) -> Measured | None:
    """What the log of one attempt says of memory; None when it says nothing of it."""
    found = Measured(
        kv_tokens=_least(_KV_TOKENS, log, 1, _count),
        kv_bytes=_least(_KV_GIB, log, 1, _bytes) or _least(_KV_BYTES, log, 1, int) or _least(_CPU, log, 1, _bytes),
        weights=_most(_WEIGHTS, log),
        total=_least(_KV_BYTES, log, 2, int)
        or _least(_FREE, log, 2, _bytes)
        or _total(log)
        or _least(_CPU, log, 2, _bytes),
        free_at_start=_least(_FREE, log, 1, _bytes),
        graphs=_most(_GRAPHS, log),
        tokens_per_request=_least(_CONCURRENCY, log, 1, _count),
        concurrency=_least(_CONCURRENCY, log, 2, float),
        utilization=_least(_SHARE, log, 1, float),
    )
    return found if found.to_json().keys() - {"utilization"} else None


def differences(estimate: Sum, seen: Measured) -> list[Difference]:
    """The estimate of one layout against what an instance with it measured; only figures that both have."""
    room = estimate.room(1, 1)
    each = max(cost for _, cost in estimate.stages)
    ours = {
        "weights": room.weights,
        "kv_bytes": _left(room),
        "kv_tokens": max(0.0, _left(room) / each) * estimate.layout.dp,
        "reserve": room.reserve,
        "total": room.total,
    }
    theirs = {**seen.to_json(), "reserve": seen.reserve}
    return list(_both(ours, theirs))


def cache_difference(estimate: Sum, seen: Measured) -> Difference | None:
    """Tokens that the measured cache memory holds by our bytes per token, against the tokens the engine counted."""
    if seen.kv_bytes is None or not seen.kv_tokens:
        return None
    each = max(cost for _, cost in estimate.stages)
    return Difference("kv_tokens", seen.kv_bytes / each, seen.kv_tokens)


def _both(ours: Mapping[str, float], theirs: Mapping[str, object]) -> Iterator[Difference]:
    for figure, estimated in ours.items():
        measured = theirs.get(figure)
        if isinstance(measured, int | float):
            yield Difference(figure, estimated, measured)


def _left(room: Room) -> int:
    """What an empty cache would have."""
    return room.free + room.kv


def _count(words: str) -> int:
    return int(words.replace(",", ""))


def _bytes(words: str) -> int:
    return round(float(words) * GIB)


def _total(log: str) -> int | None:
    found = [_bytes(one or other) for one, other in _TOTAL.findall(log)]
    return min(found, default=None)


def _least(pattern: re.Pattern[str], log: str, group: int, read: Callable[[str], Number]) -> Number | None:
    return min((read(match[group]) for match in pattern.finditer(log)), default=None)


def _most(pattern: re.Pattern[str], log: str) -> int | None:
    return max((_bytes(match[1]) for match in pattern.finditer(log)), default=None)
