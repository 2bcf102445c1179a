"""The calculator against figures others published; where they disagree, both numbers stand here."""

from dataclasses import replace

import pytest

from console.catalog.models import Minimum, Model, models
from console.catalog.quantizations import scheme
from console.serving.fit import Answer, fit
from console.serving.layout import Layout, all_bytes, parameters, stages, weight_bytes
from console.serving.measured import cache_difference, differences, read_log
from console.serving.room import Sum, Wish, card
from console.serving.shape import Shape, shape_of
from tests.serving.fitting import GIB, LARGE, SMALL, model

COMPUTABLE = [one for one in models() if one.computable]

WEIGHTS_APART = {
    ("DeepSeek-R1-Distill-Qwen-1.5B", "w8a8"): "2.2 against an estimate of 1.9: embedding and head stay in 16 bits",
    ("DeepSeek-R1-Distill-Qwen-7B", "w8a8"): "8.7 against an estimate of 8.0, for the same reason",
    ("DeepSeek-R1-Distill-Llama-8B", "w8a8"): "9.1 against an estimate of 8.4, for the same reason",
    ("DeepSeek-R1-Distill-Qwen-14B", "w8a8"): "16.3 against an estimate of 15.5, for the same reason",
    ("Qwen3-8B", "w8a8"): "9.4 against an estimate of 8.6, for the same reason",
    ("Qwen3-0.6B", "w8a8"): "1.1 against an estimate of 0.9, for the same reason",
    (
        "DeepSeek-V4-Flash",
        "w8a8",
    ): "285 against 314.6 that are published; the larger counts",
}
"""Model and scheme -> GB by the closed form against GB in the catalog, where they are more than 5 % apart."""

CARDS_APART = {
    ("Qwen3-235B-A22B", 8, "none"): "documented on 8 x 64 GiB; by this sum 2.2 GiB are missing on each card",
}
"""What is documented to run and does not fit by this sum. Not tuned away: the sum is on the careful side."""


@pytest.mark.parametrize("one", COMPUTABLE, ids=lambda one: one.name)
def test_parameters_are_those_that_are_published(one: Model) -> None:
    if one.name == "Qwen3-0.6B":  # 0.6 counts the table once, 0.75 are in the file, which has it at both ends
        assert parameters(shape_of(one)) == pytest.approx(0.75e9, rel=0.01)
    else:
        assert parameters(shape_of(one)) == pytest.approx(one.parameters_b * 1e9, rel=0.005)


@pytest.mark.parametrize(
    ("one", "name"),
    [(one, name) for one in COMPUTABLE for name in one.sizes_gb],
    ids=lambda each: each if isinstance(each, str) else each.name,
)
def test_weights_are_those_of_the_catalog_or_the_difference_is_written_down(one: Model, name: str) -> None:
    ours = all_bytes(replace(shape_of(one), stated_gb={}), scheme(name)) / 1e9
    apart = ours != pytest.approx(one.sizes_gb[name], rel=0.05)
    assert apart == ((one.name, name) in WEIGHTS_APART), f"{ours:.1f} GB against {one.sizes_gb[name]}"


DOCUMENTED = [(one, each) for one in COMPUTABLE for each in one.minimum if each.basis == "documented" and one.verified]
ESTIMATED = [(one, each) for one in COMPUTABLE for each in one.minimum if each.basis == "own estimate"]


def answer_for(one: Model, each: Minimum) -> Answer:
    """The stated setting; where none is stated, one user with a short context."""
    wish = Wish(each.cards, each.quantization, context=each.context or 2048, concurrency=each.concurrency or 1)
    return fit(shape_of(one), SMALL if each.hbm_gib == 32 else LARGE, replace(wish, tp=each.tp, dp=each.dp))


def named(each: Model | Minimum) -> str:
    return f"{each.cards}x{each.hbm_gib}-{each.quantization}" if isinstance(each, Minimum) else each.name


@pytest.mark.parametrize(("one", "each"), DOCUMENTED, ids=named)
def test_what_is_documented_to_run_fits_or_the_difference_is_written_down(one: Model, each: Minimum) -> None:
    answer = answer_for(one, each)
    assert answer.fits != ((one.name, each.cards, each.quantization) in CARDS_APART), str(answer.reason)


@pytest.mark.parametrize(("one", "each"), ESTIMATED, ids=named)
def test_our_own_rule_of_thumb_agrees(one: Model, each: Minimum) -> None:
    assert answer_for(one, each).fits, str(answer_for(one, each).reason)


# -- figures that running engines printed ------------------------------------------------------------------------

QWEN3_14B = Shape(
    "Qwen3-14B",
    config=replace(
        model("Qwen3-32B").config, layers=40, hidden=5120, heads=40, kv_heads=8, head_dim=128, intermediate=17408
    ),
)
LLAMA_8B = model("DeepSeek-R1-Distill-Llama-8B")
DISTILL_14B = model("DeepSeek-R1-Distill-Qwen-14B")

PRINTED = [
    ("vllm-project/vllm-ascend issue 9372", QWEN3_14B, 1, "Loading model weights took 27.5376 GB", 0.002),
    ("vllm-project/vllm pull request 10511", LLAMA_8B, 1, "model weights take    14.96GiB", 0.001),
    ("vllm-project/vllm pull request 10511", LLAMA_8B, 2, "model weights take 7.48GiB", 0.001),
    ("vllm-project/vllm issue 13061", DISTILL_14B, 2, "Loading model weights took 13.9476 GB", 0.015),
]


@pytest.mark.parametrize(("source", "shape", "tp", "line", "within"), PRINTED)
def test_weights_against_what_engines_printed(source: str, shape: Shape, tp: int, line: str, within: float) -> None:
    seen = read_log(line)
    assert seen is not None
    assert seen.weights is not None
    ours = weight_bytes(shape, scheme("none"), Layout(tp=tp), stages(shape.config.layers, 1)[0])
    assert abs(ours / seen.weights - 1) < within, f"{source}: {ours / GIB:.3f} against {seen.weights / GIB:.3f} GiB"


def test_cache_tokens_against_what_an_engine_printed() -> None:
    """vllm-project/vllm issue 21348: Qwen3-235B-A22B with tensor parallel 4; the engine counts 1.2 % fewer."""
    seen = read_log("Available KV cache memory: 8.11 GiB\nGPU KV cache size: 178,880 tokens\n")
    assert seen is not None
    estimate = Sum(model("Qwen3-235B-A22B"), LARGE, Wish(4, tp=4), scheme("w8a8"), Layout(tp=4))
    apart = cache_difference(estimate, seen)
    assert apart is not None
    assert 0 < apart.error < 0.02


def test_a_start_that_failed_would_have_been_foreseen() -> None:
    """vllm-project/vllm-ascend issue 9372: Qwen3-14B in BF16 on a 32 GB card, eager: -0.87 GiB were left for the cache.

    The sum says -3.4: careful by 2.5 GiB, of which 0.8 are the lower share it starts an idle card with and 0.8 CANN.
    """
    seen = read_log("Loading model weights took 27.5376 GB\nAvailable KV cache memory: -0.87 GiB")
    assert seen is not None
    estimate = Sum(QWEN3_14B, card(SMALL.chip, 32 * GIB), Wish(1, context=4096, eager=True), scheme("none"), Layout())
    found = {each.figure: each for each in differences(estimate, seen)}
    assert found["kv_bytes"].estimated < 0
    assert found["kv_bytes"].measured < 0
    assert abs(found["kv_bytes"].estimated - found["kv_bytes"].measured) < 3 * GIB
    assert abs(found["weights"].error) < 0.002
