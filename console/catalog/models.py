"""DeepSeek and Qwen models with the figures that decide what they need: models.yaml as values."""

import difflib
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from console.errors import NotFound
from console.text import say

FILE = Path(__file__).with_name("models.yaml")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Config:
    """Figures of config.json, in numbers; 0 = the model has no such part, or it is not known."""

    layers: int = 0
    hidden: int = 0
    heads: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    intermediate: int = 0
    moe_intermediate: int = 0
    experts: int = 0
    shared_experts: int = 0
    experts_per_token: int = 0
    dense_layers: int = 0
    kv_lora_rank: int = 0
    q_lora_rank: int = 0
    qk_rope_head_dim: int = 0
    qk_nope_head_dim: int = 0
    v_head_dim: int = 0
    index_head_dim: int = 0
    mtp_layers: int = 0
    vocab: int = 0
    context: int = 0


@dataclass(frozen=True)
class Checkpoint:
    """Published weights of a model in one scheme of quantizations.yaml."""

    scheme: str
    repo: str


@dataclass(frozen=True)
class Minimum:
    """The fewest cards of a size that somebody stated. basis: "documented" or "own estimate"; 0 = not stated."""

    cards: int
    hbm_gib: int
    quantization: str
    basis: str
    tp: int = 0
    dp: int = 0
    context: int = 0
    concurrency: int = 0


@dataclass(frozen=True)
class Model:
    """One model. parameters_b in 10^9, sizes_gb in 10^9 bytes by scheme; family: dense, moe, hybrid, multimodal.

    unverified  what of it nobody checked at its source: config, sizes, kv, parameters
    """

    id: str
    family: str
    parameters_b: float
    active_b: float
    config: Config
    verified: bool
    source: str
    aliases: tuple[str, ...] = ()
    architecture: str = ""
    sizes_gb: Mapping[str, float] = field(default_factory=dict)
    sizes_estimated: tuple[str, ...] = ()
    kv_bytes_per_token: int = 0
    quantized: tuple[Checkpoint, ...] = ()
    minimum: tuple[Minimum, ...] = ()
    reasoning_parser: str = ""
    tool_parser: str = ""
    tokenizer_mode: str = ""
    unverified: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.id.rsplit("/", 1)[-1]

    @property
    def computable(self) -> bool:
        """Whether enough of its figures are known to compute with."""
        return bool(self.config.layers and self.config.hidden and self.config.heads and self.config.vocab)

    def repo(self, scheme: str) -> str | None:
        """Where weights of this scheme are published; the model itself when it is not quantized."""
        if scheme == "none":
            return self.id
        return next((one.repo for one in self.quantized if one.scheme == scheme), None)

    @property
    def native(self) -> str:
        """The scheme of the original weights."""
        return "fp8" if "fp8" in self.sizes_gb else "none"


@dataclass(frozen=True)
class Found:
    """A model, and the scheme that its name already said (a quantized checkpoint was named)."""

    model: Model
    scheme: str | None = None


@functools.cache
def models() -> tuple[Model, ...]:
    """All of them, in the order of the file."""
    tree: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return tuple(_model(entry) for entry in tree["models"])


def find(name: str) -> Found:
    """By whole id, by name without its organisation, or by a published checkpoint; case does not matter.

    Raises NotFound with the nearest names.
    """
    wanted = name.strip().lower()
    known = {key.lower(): found for model in models() for key, found in _names(model)}
    if wanted in known:
        return known[wanted]
    near = difflib.get_close_matches(wanted, known, n=4, cutoff=0.5)
    listed = [_shown(known[one]) for one in near] or [model.id for model in models()]
    raise NotFound(
        say(
            "The catalog has no model '{name}'. Nearest: {names}. A folder with a Hugging Face model can be named "
            "instead, by its whole path.",
            name=name,
            names=", ".join(dict.fromkeys(listed)),
        )
    )


def repositories() -> tuple[str, ...]:
    """All that hubs have of the catalog, as OWNER/NAME: each model, then its quantized weights."""
    return tuple(
        dict.fromkeys(name for model in models() for name in (model.id, *(one.repo for one in model.quantized)))
    )


def repository(asked: str) -> str:
    """What a hub calls the model that a name or a folder means; "" where that cannot be told."""
    if _REPOSITORY.fullmatch(asked):
        return asked
    last = asked.rstrip("/").rsplit("/", 1)[-1].lower()
    return next((one for one in repositories() if one.rsplit("/", 1)[-1].lower() == last), "")


def _shown(found: Found) -> str:
    return (found.model.repo(found.scheme) if found.scheme else None) or found.model.id


def _names(model: Model) -> Iterator[tuple[str, Found]]:
    for whole in (model.id, *model.aliases):
        yield whole, Found(model)
        yield whole.rsplit("/", 1)[-1], Found(model)
    for one in model.quantized:
        yield one.repo, Found(model, one.scheme)
        yield one.repo.rsplit("/", 1)[-1], Found(model, one.scheme)


def _model(entry: dict[str, Any]) -> Model:
    lists = {key: tuple(entry.get(key, ())) for key in ("aliases", "sizes_estimated", "unverified")}
    made = {
        "config": Config(**entry["config"]),
        "quantized": tuple(Checkpoint(**one) for one in entry.get("quantized", ())),
        "minimum": tuple(Minimum(**one) for one in entry["minimum"]),
    }
    return Model(**{**entry, **lists, **made})
