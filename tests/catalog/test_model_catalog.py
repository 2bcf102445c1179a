"""The catalog of models: found by what people call them, and honest about what is not known."""

import pytest

from console.catalog.card_memory import default_utilization, idle_bytes
from console.catalog.models import find, models
from console.catalog.quantizations import at_least, schemes
from console.errors import NotFound


@pytest.mark.parametrize(
    ("words", "model", "scheme"),
    [
        ("Qwen3-32B", "Qwen/Qwen3-32B", None),
        ("qwen/qwen3-32b", "Qwen/Qwen3-32B", None),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", None),
        (" DEEPSEEK-R1-0528 ", "deepseek-ai/DeepSeek-R1", None),
        ("vllm-ascend/Qwen3-32B-W8A8", "Qwen/Qwen3-32B", "w8a8"),
        ("Qwen3-8B-W4A8", "Qwen/Qwen3-8B", "w4a8"),
    ],
)
def test_a_model_is_found(words: str, model: str, scheme: str | None) -> None:
    found = find(words)
    assert (found.model.id, found.scheme) == (model, scheme)


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ("deepseek-moe-7b", "deepseek-moe-16b-chat"),
        ("Qwen3-32", "Qwen/Qwen3-32B"),
        ("zzz", "DeepSeek-R1"),
        ("", "Qwen"),
    ],
)
def test_an_unknown_one_names_what_is_near(words: str, near: str) -> None:
    with pytest.raises(NotFound, match=near):
        find(words)


def test_every_published_checkpoint_names_a_scheme_that_runs_somewhere() -> None:
    known = {one.id for one in schemes()}
    assert {each.scheme for one in models() for each in one.quantized} <= known
    assert {each.quantization for one in models() for each in one.minimum} <= known
    assert {name for one in models() for name in one.sizes_gb} <= known


def test_names_are_unique_and_sizes_are_plausible() -> None:
    assert len({one.id for one in models()}) == len(models()) >= 20
    for one in models():
        assert all(size > 0.3 * one.parameters_b for size in one.sizes_gb.values())
        assert set(one.sizes_estimated) <= set(one.sizes_gb)
        assert set(one.unverified) <= {"config", "sizes", "kv", "parameters"}


def test_releases() -> None:
    assert at_least("0.23.0.post1", "0.23")
    assert at_least("0.30.0rc2", "0.30")
    assert not at_least("0.9.1", "0.11")
    assert default_utilization("0.7.3") == 0.90
    assert default_utilization("0.23.0") == 0.92


def test_an_idle_card_holds_something() -> None:
    assert 2 * 1024**3 < idle_bytes("A2") < 4 * 1024**3
