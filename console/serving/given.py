"""What is given before anything is chosen: a model folder's own facts, and what is free on the host."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class ModelFacts(Protocol):
    """What a model folder says about itself. Sizes in numbers, not bytes; None = the model has no such part.

    noise = the weights are random: answers are words without sense, and nothing about quality follows from them.
    """

    @property
    def architecture(self) -> str: ...
    @property
    def hidden(self) -> int: ...
    @property
    def layers(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def kv_heads(self) -> int: ...
    @property
    def head_dim(self) -> int: ...
    @property
    def intermediate(self) -> int: ...
    @property
    def moe_intermediate(self) -> int | None: ...
    @property
    def kv_lora_rank(self) -> int | None: ...
    @property
    def qk_rope_head_dim(self) -> int | None: ...
    @property
    def vocab(self) -> int: ...
    @property
    def max_context(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    @property
    def weight_bytes(self) -> int: ...
    @property
    def parameters(self) -> int: ...
    @property
    def noise(self) -> bool: ...


@dataclass(frozen=True)
class Machine:
    """What is free on the host now. A port's value names its holder; core_ids = CPU ids we may use (empty: all).

    ports_promised  ports that servers of ours have a claim to, listening or not yet -> the server's name
    """

    cores: int
    memory_available_bytes: int
    numa_nodes: int = 1
    ports_in_use: Mapping[int, str] = field(default_factory=dict)
    arch: str = "x86_64"
    core_ids: tuple[int, ...] = ()
    ports_promised: Mapping[int, str] = field(default_factory=dict)

    @property
    def usable_core_ids(self) -> tuple[int, ...]:
        return self.core_ids or tuple(range(self.cores))
