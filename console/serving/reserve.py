"""What a device's memory holds beside weights and cache: activation, communication buffers, graphs and the runtime."""

from dataclasses import dataclass

from console.catalog.card_memory import MIB, assumed
from console.serving.layout import Layout
from console.serving.shape import PADDED_TO, Shape, head_dim, kv_heads

SAMPLER_BYTES = 22
"""Of one entry of the vocabulary for one sequence: logits in 16 and 32 bits, probabilities, a sorted copy, places."""


@dataclass(frozen=True)
class Reserve:
    """Bytes on one device, by what they are for."""

    activation: int
    communication: int
    graphs: int
    runtime: int

    @property
    def total(self) -> int:
        return self.activation + self.communication + self.graphs + self.runtime


def reserve(shape: Shape, layout: Layout, batched_tokens: int, sequences: int, *, eager: bool = False) -> Reserve:
    """What the profiling run and the communicators will take before the cache gets the rest.

    Each communicator takes twice HCCL_BUFFSIZE (HCCL guide of CANN 8.5.0); activation is computed, graphs and runtime
    are allowances of ours (card_memory.yaml).
    """
    return Reserve(
        activation=_hidden_bytes(shape, layout) * batched_tokens + _sampler_bytes(shape) * sequences,
        communication=layout.communicators * 2 * assumed("hccl_buffer_mib").number * MIB,
        graphs=0 if eager else assumed("graph_mib").number * MIB,
        runtime=assumed("runtime_mib").number * MIB,
    )


def _hidden_bytes(shape: Shape, layout: Layout) -> int:
    """Bytes alive for one token in the widest moment of a layer: two hidden rows, and attention or feed-forward."""
    one, tp = shape.config, layout.tp
    attention = (one.heads + 2 * kv_heads(shape)) * max(head_dim(shape), one.qk_nope_head_dim + one.qk_rope_head_dim)
    dense = 3 * one.intermediate
    slices = 1 if layout.ep else tp
    experts = one.experts_per_token * (2 * one.hidden * tp + 3 * one.moe_intermediate * tp // slices)
    return 2 * (2 * one.hidden + -(-max(2 * attention, dense, experts) // tp))


def _sampler_bytes(shape: Shape) -> int:
    return -(-shape.config.vocab // PADDED_TO) * PADDED_TO * SAMPLER_BYTES
