"""Folders of weights as the calculator sees them: counted, not believed by name."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from console.catalog.quantizations import scheme
from console.errors import InvalidInput, NotFound
from console.serving.ask_fit import subject
from console.serving.fit import fit
from console.serving.fit_folder import shape_of_folder
from console.serving.folder import LocalFolder
from console.serving.layout import all_bytes, parameters
from console.serving.room import Wish
from console.serving.shape import Shape, numbers, total
from tests.serving.fitting import SMALL

CONFIG: dict[str, Any] = {
    "architectures": ["Qwen2ForCausalLM"],
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 256,
    "vocab_size": 640,
    "max_position_embeddings": 512,
    "torch_dtype": "bfloat16",
}


def write(folder: Path, numbers_: int, kind: str = "BF16", size: int = 2, **config: object) -> Path:
    """A model folder with one tensor of this many numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG | config))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    header = {"a": {"dtype": kind, "shape": [numbers_], "data_offsets": [0, size * numbers_]}}
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(size * numbers_))
    return folder


def seen(folder: Path) -> Shape:
    return shape_of_folder(str(folder), LocalFolder(folder))[0]


def test_parameters_are_counted_in_the_weights(tmp_path: Path) -> None:
    plain = seen(write(tmp_path / "Qwen3-32B", 400_000))
    assert parameters(plain) == 400_000
    assert total(plain, numbers(plain)) == pytest.approx(400_000, abs=2)
    assert all_bytes(plain, scheme("none")) == pytest.approx(800_000, rel=0.01)


def test_what_lies_there_in_eight_bits_is_weighed(tmp_path: Path) -> None:
    folder = write(tmp_path / "made", 500_000, "I8", 1)
    (folder / "quant_model_description.json").write_text(
        json.dumps({"model.a.weight": "W8A8_DYNAMIC", "model.b.weight": "W8A8_DYNAMIC", "lm_head.weight": "FLOAT"})
    )
    one = seen(folder)
    assert one.stored_scheme == "w8a8"
    assert all_bytes(one, scheme("w8a8")) == pytest.approx((folder / "model.safetensors").stat().st_size, abs=1)
    assert all_bytes(one, scheme("none")) != all_bytes(one, scheme("w8a8"))


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({}, "none"),
        ({"quantization_config": {"quant_method": "fp8"}}, "fp8"),
        ({"quantization_config": {"quant_method": "awq"}}, "awq"),
        ({"quantization_config": {"quant_method": "compressed-tensors"}}, "w8a8"),
        ({"quantization_config": {"bits": 4}}, "unknown"),
    ],
)
def test_how_it_is_stored(tmp_path: Path, config: dict[str, object], named: str) -> None:
    assert seen(write(tmp_path / "one", 1000, **config)).stored_scheme == named


def test_weights_in_32_bits_are_not_weighed(tmp_path: Path) -> None:
    one = seen(write(tmp_path / "wide", 400_000, "F32", 4))
    assert one.stored_bytes == 0
    assert all_bytes(one, scheme("none")) == pytest.approx(800_000, rel=0.01)


def test_experts_and_latent_attention_are_found(tmp_path: Path) -> None:
    more = {
        "n_routed_experts": 8, "n_shared_experts": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
        "first_k_dense_replace": 1, "kv_lora_rank": 512, "q_lora_rank": None, "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128, "v_head_dim": 128, "tie_word_embeddings": True,
    }  # fmt: skip
    one = seen(write(tmp_path / "tiny", 1000, **more))
    assert (one.is_moe, one.is_latent, one.tied) == (True, True, True)
    assert (one.config.experts, one.config.dense_layers, one.config.q_lora_rank) == (8, 1, 0)
    assert numbers(one).head == 0


def test_the_text_part_of_a_model_with_several(tmp_path: Path) -> None:
    own = {key: CONFIG[key] for key in ("hidden_size", "num_hidden_layers")}
    one = seen(write(tmp_path / "many", 1000, text_config={**own, "num_hidden_layers": 7}))
    assert one.config.layers == 7


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no folder"):
        subject(str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match=r"config\.json"):
        subject(str(tmp_path / "empty"))
    with pytest.raises(NotFound, match="Nearest"):
        subject("deepseek-ai/DeepSeek-R2")
    with pytest.raises(InvalidInput, match="Name a model"):
        subject(" ")


def test_a_folder_is_asked_about_by_its_path(tmp_path: Path) -> None:
    shape, model, named = subject(str(write(tmp_path / "one", 400_000)))
    assert model is None
    assert named == "none"
    assert fit(shape, SMALL, Wish(1, context=512)).fits
