"""A model in a folder as the calculator sees it: config.json, the weights' headers, the quantization description."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from console.catalog.models import Config
from console.catalog.quantizations import scheme
from console.errors import InvalidInput, NotFound
from console.serving.folder import Folder
from console.serving.shape import Shape
from console.serving.weights import ModelFolder, inspect
from console.text import say

DESCRIPTION = "quant_model_description"
UNQUANTIZED = "FLOAT"
_KEYS: Mapping[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers",),
    "hidden": ("hidden_size",),
    "heads": ("num_attention_heads",),
    "kv_heads": ("num_key_value_heads",),
    "head_dim": ("head_dim",),
    "intermediate": ("intermediate_size",),
    "moe_intermediate": ("moe_intermediate_size",),
    "experts": ("n_routed_experts", "num_experts", "num_local_experts"),
    "shared_experts": ("n_shared_experts",),
    "experts_per_token": ("num_experts_per_tok",),
    "dense_layers": ("first_k_dense_replace",),
    "kv_lora_rank": ("kv_lora_rank",),
    "q_lora_rank": ("q_lora_rank",),
    "qk_rope_head_dim": ("qk_rope_head_dim",),
    "qk_nope_head_dim": ("qk_nope_head_dim",),
    "v_head_dim": ("v_head_dim",),
    "index_head_dim": ("index_head_dim",),
    "mtp_layers": ("num_nextn_predict_layers",),
    "vocab": ("vocab_size",),
    "context": ("max_position_embeddings",),
}


def shape_of_folder(folder: str, files: Folder) -> tuple[Shape, ModelFolder]:
    """Read the folder. InvalidInput when config.json cannot be used; other problems stand in the ModelFolder."""
    found = inspect(folder, files)
    config = _json(files, "config.json")
    if config is None or not found.layers:
        why = next((one.text for one in found.problems if one.is_error), None)
        raise InvalidInput(why or say("{folder} has no config.json that can be read.", folder=folder))
    name = stored_scheme(config, files)
    return (
        Shape(
            name=found.name,
            config=config_of(config),
            parameters=found.parameters if name == "none" else 0,
            exact=name == "none" and found.parameters > 0,
            stored_bytes=found.weight_bytes if _whole(found) and _is_stored_as_loaded(found) else 0,
            stored_scheme=name,
            tied=bool(config.get("tie_word_embeddings")),
            verified=True,
            source="config.json and the headers of the weights in the folder",
        ),
        found,
    )


def config_of(config: Mapping[str, Any]) -> Config:
    """The figures of config.json; of a model with several parts those of its text part. Odd values count as none."""
    text = config.get("text_config")
    own = {**config, **text} if isinstance(text, dict) else config
    read = {
        name: next((_whole_number(own.get(key)) for key in keys if own.get(key)), 0) for name, keys in _KEYS.items()
    }
    return Config(**read)


def stored_scheme(config: Mapping[str, Any], files: Folder) -> str:
    """How the weights in the folder are stored, by a name of quantizations.yaml where it has one.

    Ascend's tool names the scheme of every tensor; the most frequent one beside plain numbers counts.
    """
    for name in files.list():
        if name.startswith(DESCRIPTION):
            described = _json(files, name) or {}
            return _named(_most_frequent(described))
    stated = config.get("quantization_config") or config.get("compression_config")
    return _named(str(stated.get("quant_method") or "unknown")) if isinstance(stated, dict) else "none"


def _most_frequent(described: Mapping[str, Any]) -> str:
    counted = Counter(str(value) for key, value in described.items() if key.endswith("weight") and value != UNQUANTIZED)
    if counted:
        return counted.most_common(1)[0][0]
    return str(described.get("model_quant_type") or "none")


def _named(words: str) -> str:
    try:
        return scheme(words).id
    except NotFound:
        return words.lower()


def _is_stored_as_loaded(found: ModelFolder) -> bool:
    """Weights in 32 bits are halved on loading; their bytes say nothing about memory."""
    return found.quantization is not None or found.weight_bytes < 3 * found.parameters


def _whole(found: ModelFolder) -> bool:
    return found.weight_bytes > 0 and found.usable


def _whole_number(value: object) -> int:
    return value if type(value) is int and value > 0 else 0


def _json(files: Folder, name: str) -> dict[str, Any] | None:
    try:
        read = json.loads(files.read(name))
    except (OSError, ValueError):
        return None
    return read if isinstance(read, dict) else None
