"""The memory of one device as a sum: weights, cache and reserve against what vLLM may use of the total.

Everything is bytes of one device, the fullest one. What vLLM may use is a share (utilization) of the total it sees, and
it refuses to start when less than that share is free. On some drivers that total already leaves out what an idle card
holds (60.97 GiB were seen for 64), on others not: the smaller of both readings is taken for the room, and the stricter
one for the start.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

from console.catalog.ascend import Chip
from console.catalog.card_memory import assumed, default_utilization, idle_bytes
from console.catalog.quantizations import NEWEST, Scheme
from console.serving.layout import Layout, stages, weight_bytes
from console.serving.reserve import Reserve, reserve
from console.serving.shape import Shape, kv_bytes_per_token

MOST_USERS = 65536
DEFAULT_CONTEXT = 8192


@dataclass(frozen=True)
class Card:
    """One device, called as npu-smi does.

    held      bytes that others hold, as npu-smi shows them
    measured  seen on the card, not assumed
    """

    chip: Chip
    total: int
    held: int
    name: str = ""
    measured: bool = False

    @property
    def family(self) -> str:
        return self.chip.family

    @property
    def free(self) -> int:
        return self.total - self.held


@dataclass(frozen=True)
class Wish:
    """What is asked: 0 leaves a parallel size open, None a setting at its default. cards are whole cards.

    kv_bits           of one number in the cache: 16, or 8 with an int8 cache (C8)
    measured_reserve  bytes that an instance of this kind was seen to take beside weights and cache
    """

    cards: int
    quantization: str = "none"
    context: int = DEFAULT_CONTEXT
    concurrency: int = 1
    release: str = NEWEST
    tp: int = 0
    pp: int = 0
    dp: int = 0
    ep: bool | None = None
    utilization: float | None = None
    batched_tokens: int | None = None
    eager: bool = False
    kv_bits: int = 16
    measured_reserve: int | None = None


@dataclass(frozen=True)
class Room:
    """Bytes of one device. free is negative by what is missing."""

    total: int
    usable: int
    weights: int
    kv: int
    reserve: int

    @property
    def free(self) -> int:
        return self.usable - self.weights - self.kv - self.reserve


def card(chip: Chip, total: int, free: int | None = None, name: str = "") -> Card:
    """A device with `total` bytes; without `free` (from npu-smi) an idle card holds the most that idle ones showed."""
    if free is None:
        return Card(chip, total, min(total, idle_bytes(chip.family)), name or chip.names[0])
    return Card(chip, total, min(total, max(0, total - free)), name or chip.names[0], measured=True)


def highest_utilization(one: Card) -> float:
    """The largest share, in hundredths, with which vLLM still starts: it compares free memory with total x share."""
    return max(0, math.floor(100 * one.free / one.total)) / 100


def utilization_of(one: Card, wish: Wish) -> float:
    """What is asked for, else the default of the release as far as the card starts with it."""
    if wish.utilization is not None:
        return wish.utilization
    return min(default_utilization(wish.release), highest_utilization(one))


def usable_bytes(one: Card, wish: Wish) -> int:
    """What weights, cache and everything else of vLLM may take together."""
    own = one.total - min(one.held, idle_bytes(one.family))
    return int(own * max(0.0, utilization_of(one, wish)))


@dataclass(frozen=True)
class Sum:
    """The addition for one layout."""

    shape: Shape
    card: Card
    wish: Wish
    scheme: Scheme
    layout: Layout

    def room(self, context: int, users: int) -> Room:
        """The fullest stage with this many users of this context each."""
        usable, extra = usable_bytes(self.card, self.wish), self.wish.measured_reserve
        if extra is None:
            extra = self.reserve(users).total
        rooms = [
            Room(self.card.total, usable, weights, math.ceil(self._tokens(context, users) * each), extra)
            for weights, each in self.stages
        ]
        return min(rooms, key=lambda one: one.free)

    def reserve(self, users: int) -> Reserve:
        tokens = self.wish.batched_tokens or assumed("batched_tokens").number
        sequences = max(assumed("sequences").number, -(-users // self.layout.dp))
        return reserve(self.shape, self.layout, tokens, sequences, eager=self.wish.eager)

    def rank(self) -> tuple[bool, bool, int]:
        """Layouts that fit come first, of them those without pipeline stages, of them the roomiest."""
        room = self.room(self.wish.context, self.wish.concurrency)
        return room.free >= 0, room.free >= 0 and self.layout.pp == 1, self.capacity()

    def capacity(self) -> int:
        """Tokens that the cache of all data-parallel ranks holds together; negative by what is missing for one."""
        room = self.room(1, 1)
        left, each = room.free + room.kv, max(cost for _, cost in self.stages)
        return int(left / each) * (self.layout.dp if left > 0 else 1)

    @functools.cached_property
    def stages(self) -> list[tuple[int, float]]:
        """Bytes of weights, and of cache for a token, of each pipeline stage."""
        bits = 16.0 if self.scheme.expands(self.card.family, self.wish.release) else None
        return [
            (
                weight_bytes(self.shape, self.scheme, self.layout, stage, bits=bits),
                kv_bytes_per_token(self.shape, stage.layers, self.layout.tp, self.wish.kv_bits),
            )
            for stage in stages(self.shape.config.layers, self.layout.pp)
        ]

    def _tokens(self, context: int, users: int) -> int:
        """What one data-parallel rank keeps, in whole blocks."""
        block = assumed("block_tokens").number
        return -(-users // self.layout.dp) * -(-context // block) * block

    def fits(self, context: int, users: int) -> bool:
        return self.room(context, users).free >= 0

    def max_context(self) -> int:
        """Tokens that each of the wished users may have: whole blocks, at most what the model was made for."""
        block, most = assumed("block_tokens").number, self.shape.config.context
        if self.fits(most, self.wish.concurrency):
            return most
        return block * largest(most // block, lambda count: self.fits(count * block, self.wish.concurrency))

    def max_concurrency(self) -> int:
        """Users that may have the wished context at the same time."""
        return largest(MOST_USERS, lambda users: self.fits(self.wish.context, users))


def largest(most: int, good: Callable[[int], bool]) -> int:
    """The largest number from 0 to `most` that is good, where all smaller ones are good too; 0 is not asked."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if good(middle) else (low, middle - 1)
    return low
