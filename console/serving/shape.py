"""What of a model takes memory: how many numbers each part has, and how many a token leaves in the cache."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from console.catalog.models import Config, Model

PADDED_TO = 64
"""vLLM pads the vocabulary to a multiple of this (vllm/model_executor/layers/vocab_parallel_embedding.py)."""


@dataclass(frozen=True)
class Shape:
    """A model as the calculator sees it.

    parameters     all numbers, counted in the weights or stated by the catalog; 0 = only the closed form is known
    exact          `parameters` were counted in the weights, so the closed form is corrected by them
    stored_bytes   bytes of the weights that are there, in the scheme `stored_scheme`; 0 = none are there
    stated_gb      10^9 bytes of weights by scheme, as somebody published them; ours to estimate are not among them
    kv_per_token   bytes in BF16 of the whole model where the plain formulas do not hold; 0 = they do
    tied           the output head is the embedding itself
    """

    name: str
    config: Config
    parameters: int = 0
    exact: bool = False
    stored_bytes: int = 0
    stored_scheme: str | None = None
    kv_per_token: int = 0
    tied: bool = False
    verified: bool = False
    stated_gb: Mapping[str, float] = field(default_factory=dict)
    source: str = ""

    @property
    def is_moe(self) -> bool:
        return self.config.experts > 0

    @property
    def is_latent(self) -> bool:
        """Multi-head latent attention: one small entry per token, whole on every rank."""
        return self.config.kv_lora_rank > 0

    @property
    def computable(self) -> bool:
        one = self.config
        return bool(one.layers and one.hidden and one.heads and one.vocab and (one.intermediate or one.experts))


@dataclass(frozen=True)
class Numbers:
    """How many numbers each part holds. Those of attention, norms and router are of one layer.

    attention   divided between tensor-parallel ranks
    kv          key and value projections: divided as far as there are KV heads, then copied
    copied      whole on every rank (the down projections of latent attention)
    wide        attention that no scheme quantizes (the up projection that latent attention absorbs)
    plain       norms and router: whole on every rank, always 16 bits
    dense       feed-forward of a dense layer;  shared, experts: of a layer with experts, all of them together
    """

    embedding: int
    head: int
    attention: int
    kv: int
    copied: int
    wide: int
    plain: int
    dense: int
    shared: int
    experts: int


def shape_of(model: Model) -> Shape:
    """A model of the catalog."""
    return Shape(
        name=model.id,
        config=model.config,
        parameters=round(model.parameters_b * 1e9),
        kv_per_token=model.kv_bytes_per_token,
        verified=model.verified and "config" not in model.unverified,
        stated_gb={
            name: model.sizes_gb[name] for name in model.sizes_gb if name not in (*model.sizes_estimated, "none")
        },
        source=model.source,
    )


def numbers(shape: Shape) -> Numbers:
    """The closed form over config.json; where attention cannot be derived, what is left of all parameters."""
    one = shape.config
    table = -(-one.vocab // PADDED_TO) * PADDED_TO * one.hidden
    attention, kv, copied, wide = _attention(shape)
    made = Numbers(
        embedding=table,
        head=0 if shape.tied else table,
        attention=attention,
        kv=kv,
        copied=copied,
        wide=wide,
        plain=2 * one.hidden + one.hidden * one.experts,
        dense=3 * one.hidden * one.intermediate,
        shared=3 * one.hidden * one.moe_intermediate * one.shared_experts,
        experts=3 * one.hidden * one.moe_intermediate * one.experts,
    )
    if shape.parameters and (shape.exact or not _attention_known(shape)):
        missing = (shape.parameters - total(shape, made)) // one.layers
        return Numbers(**{**vars(made), "attention": max(0, made.attention + missing)})
    return made


def total(shape: Shape, of: Numbers) -> int:
    """All numbers of the model, without a draft (MTP) layer."""
    layers, dense = shape.config.layers, dense_layers(shape)
    each = of.attention + of.kv + of.copied + of.wide + of.plain
    return of.embedding + of.head + layers * each + dense * of.dense + (layers - dense) * (of.shared + of.experts)


def dense_layers(shape: Shape) -> int:
    """How many of the first layers have no experts."""
    return min(shape.config.dense_layers, shape.config.layers) if shape.is_moe else shape.config.layers


def kv_bytes_per_token(shape: Shape, layers: int, tp: int, kv_bits: int = 16) -> float:
    """Bytes of cache that one token takes on one rank which has `layers` layers.

    Grouped heads are divided between ranks until there is one KV head a rank, then copied; a latent entry is whole on
    every rank (vLLM 0.23.0: vllm/config/model.py and the MLA design).
    """
    one = shape.config
    if shape.kv_per_token:
        return shape.kv_per_token * layers / one.layers * kv_bits / 16
    if shape.is_latent:
        return layers * ((one.kv_lora_rank + one.qk_rope_head_dim) * kv_bits + one.index_head_dim * 16) / 8
    return layers * 2 * max(1, kv_heads(shape) // tp) * head_dim(shape) * kv_bits / 8


def kv_heads(shape: Shape) -> int:
    return shape.config.kv_heads or shape.config.heads


def head_dim(shape: Shape) -> int:
    return shape.config.head_dim or shape.config.hidden // shape.config.heads


def _attention_known(shape: Shape) -> bool:
    one = shape.config
    return not shape.kv_per_token and (not shape.is_latent or bool(one.qk_nope_head_dim and one.v_head_dim))


def _attention(shape: Shape) -> tuple[int, int, int, int]:
    """Numbers of one layer: divided, key and value, copied, never quantized."""
    one = shape.config
    if not _attention_known(shape):
        return 0, 0, 0, 0
    if not shape.is_latent:
        wide = one.heads * head_dim(shape)
        return 2 * one.hidden * wide, 2 * one.hidden * kv_heads(shape) * head_dim(shape), 0, 0
    query = one.heads * (one.qk_nope_head_dim + one.qk_rope_head_dim)
    down = one.hidden * (one.kv_lora_rank + one.qk_rope_head_dim) + one.hidden * one.q_lora_rank
    up = (one.q_lora_rank or one.hidden) * query + one.heads * one.v_head_dim * one.hidden
    return up, 0, down, one.kv_lora_rank * one.heads * (one.qk_nope_head_dim + one.v_head_dim)
