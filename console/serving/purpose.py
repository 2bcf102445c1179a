"""What a server is for, as a person says it, and the settings that follow from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Purpose(StrEnum):
    """Three ways to use a model that want the memory of a card divided differently."""

    FEW = "few"
    MANY = "many"
    LONG = "long"


@dataclass(frozen=True)
class Demand:
    """users           people who ask at the same moment; each has `context` tokens at least and `most` at most
    sequences       requests the engine works on at once; fewer leave shorter queues of captured graphs
    batched_tokens  tokens of one step; None = the engine's default
    """

    users: int
    context: int
    most: int
    sequences: int
    batched_tokens: int | None = None


DEMANDS: Mapping[Purpose, Demand] = {
    Purpose.FEW: Demand(users=4, context=8192, most=32768, sequences=16),
    Purpose.MANY: Demand(users=32, context=4096, most=8192, sequences=64),
    Purpose.LONG: Demand(users=2, context=32768, most=1 << 20, sequences=16, batched_tokens=8192),
}
"""Within what recipes of vllm-ascend use: 16 to 128 sequences, 4096 to 16384 batched tokens (flags.yaml)."""


def demand_of(word: str) -> Demand:
    """By its word, as an address has it; anything else means a few users."""
    return DEMANDS[Purpose(word)] if word in set(Purpose) else DEMANDS[Purpose.FEW]


def round_context(tokens: int) -> int:
    """The next lower power of two from 4096 on, so that a sum that is only nearly right leaves something free."""
    return max((1 << power for power in range(12, 21) if 1 << power <= tokens), default=tokens)
