"""The numbers of a model that decide whether and how it fits, as its config.json gives them."""

from collections.abc import Collection, Mapping
from typing import Any


def figures(own: Mapping[str, Any], architecture: str) -> dict[str, Any]:
    """KeyError, TypeError, ValueError or ZeroDivisionError name what config.json lacks."""
    heads, hidden = int(own["num_attention_heads"]), int(own["hidden_size"])
    latent = own.get("kv_lora_rank")
    return {
        "architecture": architecture,
        "hidden": hidden,
        "layers": int(own["num_hidden_layers"]),
        "heads": heads,
        "kv_heads": int(own.get("num_key_value_heads") or heads),
        "head_dim": int(own.get("head_dim") or hidden // heads),
        "intermediate": int(own["intermediate_size"]),
        "moe_intermediate": _whole(own.get("moe_intermediate_size")),
        "kv_lora_rank": _whole(latent),
        "qk_rope_head_dim": _whole(own.get("qk_rope_head_dim")) if latent else None,
        "vocab": int(own["vocab_size"]),
        "max_context": int(own["max_position_embeddings"]),
        "dtype": str(own.get("dtype") or own.get("torch_dtype") or "").removeprefix("torch."),
    }


def quantization(own: Mapping[str, Any], there: Collection[str]) -> str | None:
    """The method: Ascend's tool leaves a description file, NVIDIA's one of its own, others a part of config.json."""
    if any(name.startswith("quant_model_description") for name in there):
        return "ascend"
    stated = own.get("quantization_config") or own.get("compression_config")
    if isinstance(stated, dict):
        return str(stated.get("quant_method") or "unknown")
    return "modelopt" if "hf_quant_config.json" in there else None


def _whole(value: object) -> int | None:
    return None if value is None else int(str(value))
