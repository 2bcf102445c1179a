"""What is refused before anything starts, why, and what is named in its place."""

from pathlib import Path

import pytest
import yaml

from console.catalog import quantizations
from console.catalog.knowledge import known
from console.catalog.quantizations import scheme
from console.errors import NotFound
from console.serving.layout import Layout, tensor_sizes
from console.serving.rules import chip_breaches, context_breaches, layout_breaches, quantization_breaches
from console.serving.spec import Refusal
from tests.serving.fitting import LARGE, asked, model


def against(name: str, family: str = "A2", release: str = "0.23.0", *, is_moe: bool = False) -> list[str]:
    found = list(quantization_breaches(scheme(name), family, release, is_moe=is_moe))
    assert all(one.source for one in found)
    return [f"{one.reason} {one.instead}" for one in found]


@pytest.mark.parametrize("name", ["awq", "gptq", "gptq_marlin", "awq_marlin", "bitsandbytes", "gguf", "marlin"])
@pytest.mark.parametrize(("family", "instead"), [("A2", "W4A8, W8A8"), ("310P", "W8A8"), ("A5", "MXFP4, W8A8")])
def test_formats_of_other_makers_get_their_counterpart(name: str, family: str, instead: str) -> None:
    (said,) = against(name, family)
    assert f"'{name} quantization is currently not supported in npu'" in said
    assert f"{instead} (--quantization ascend)" in said or f"{instead}, BF16 (--quantization ascend)" in said


def test_fp8_runs_on_950_only() -> None:
    (said,) = against("fp8")
    assert "W8A8, W4A8 (--quantization ascend)" in said
    assert against("fp8", "A5") == []
    assert against("fp8", "A2", "0.30.0rc2") == [], "0.30 expands it"
    assert len(against("fp8", "310P", "0.30.0rc2")) == 1


@pytest.mark.parametrize(
    ("name", "family", "release", "refused"),
    [
        ("w8a8", "A2", "0.7.3", False),
        ("w8a8", "310P", "0.23.0.post1", False),
        ("w4a8", "A2", "0.7.3", True),
        ("w4a8", "A2", "0.9.1", False),
        ("w4a8", "A3", "0.11.0", False),
        ("w4a8", "310P", "0.23.0", True),
        ("w4a4", "A2", "0.9.1", True),
        ("w4a4", "A2", "0.11.0rc1", False),
        ("w8a16", "A2", "0.11.0", True),
        ("mxfp4", "A2", "0.23.0", True),
        ("mxfp4", "A5", "0.23.0", False),
        ("W8A8_DYNAMIC", "A2", "0.23.0", False),
    ],
)
def test_by_chip_and_release(name: str, family: str, release: str, refused: bool) -> None:
    assert bool(against(name, family, release)) == refused


def test_what_takes_the_place_runs_there_itself() -> None:
    for name in yaml.safe_load(quantizations.FILE.read_text())["refused"]:
        one = scheme(name["id"])
        assert set(one.instead) == {"A2", "A3", "310P", "A5"}
        for family, others in one.instead.items():
            assert all(against(other, family) == [] for other in others)


def test_experts_only() -> None:
    assert against("w4a16", is_moe=True) == []
    (said,) = against("w4a16")
    assert "dense" in said


def test_a_quantization_nobody_knows() -> None:
    with pytest.raises(NotFound, match="w8a8"):
        scheme("int3")


def test_the_first_generation_and_edge_chips() -> None:
    for name, word in (("910B", "first generation"), ("910A", "first generation"), ("310B4", "edge")):
        found = known().chip(name)
        assert found is not None
        (one,) = chip_breaches(found, name)
        assert name in str(one.reason)
        assert word in str(one.reason)
    good = known().chip("910B4")
    assert good is not None
    assert list(chip_breaches(good, "910B4")) == []


# -- parallelism -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("DeepSeek-R1-Distill-Qwen-1.5B", [1, 2, 4]),
        ("DeepSeek-R1-Distill-Qwen-7B", [1, 2, 4]),
        ("DeepSeek-R1-Distill-Qwen-14B", [1, 2, 4, 8]),
        ("Qwen3-32B", [1, 2, 4, 8, 16]),
        ("DeepSeek-R1", [1, 2, 4, 8, 16]),
        ("DeepSeek-V2-Lite-Chat", [1, 2, 4, 8, 16]),
    ],
)
def test_tensor_parallel_sizes(name: str, allowed: list[int]) -> None:
    assert tensor_sizes(model(name)) == allowed


def words(name: str, layout: Layout, devices: int = 16) -> str:
    found = list(layout_breaches(model(name), layout, devices))
    assert all(one.source and isinstance(one.refusal(), Refusal) for one in found)
    return " | ".join(f"{one.field}: {one.reason} {one.instead}" for one in found)


def test_twenty_eight_heads_on_eight_cards() -> None:
    said = words("DeepSeek-R1-Distill-Qwen-7B", Layout(tp=8))
    assert "28 attention heads" in said
    assert "1, 2, 4" in said


def test_feed_forward_and_kv_heads_must_divide_too() -> None:
    assert "8960 columns of the feed-forward layer" in words("DeepSeek-R1-Distill-Qwen-1.5B", Layout(tp=6))
    assert "8 KV heads" in words("DeepSeek-R1-Distill-Qwen-14B", Layout(tp=5))


def test_devices_are_the_product() -> None:
    assert words("Qwen3-32B", Layout(tp=4, pp=2), 8) == ""
    assert "takes 8 devices, more than the 4 there" in words("Qwen3-32B", Layout(tp=4, pp=2), 4)


def test_expert_parallel_needs_experts() -> None:
    assert "has none" in words("Qwen3-32B", Layout(tp=2, ep=True))
    assert words("Qwen3-30B-A3B", Layout(tp=2, ep=True)) == ""


def test_more_stages_than_layers() -> None:
    assert "cannot share 27 layers" in words("DeepSeek-V2-Lite-Chat", Layout(pp=28), 64)


@pytest.mark.parametrize("layout", [Layout(tp=0), Layout(pp=-1), Layout(dp=0)])
def test_sizes_below_one(layout: Layout) -> None:
    assert "at least 1" in words("Qwen3-32B", layout)


def test_a_context_beyond_the_model() -> None:
    (one,) = context_breaches(model("Qwen3-32B"), 40961)
    assert "40960" in str(one.reason)
    assert list(context_breaches(model("Qwen3-32B"), 40960)) == []
    assert len(list(context_breaches(model("Qwen3-32B"), 0))) == 1
    answer = asked("Qwen3-32B", LARGE, context=65536)
    assert not answer.fits
    assert answer.max_context == 40960
    assert answer.max_concurrency == 0


def test_every_breach_makes_the_answer_a_no() -> None:
    assert not asked("Qwen3-8B", LARGE, quantization="awq", context=1024).fits
    assert not asked("Qwen3-8B", LARGE, tp=3, cards=4, context=1024).fits
    assert not asked("Qwen3-8B", LARGE, tp=4, cards=2, context=1024).fits
    assert not asked("Qwen3-8B", LARGE, cards=0, context=1024).fits
    assert not asked("Qwen3-8B", LARGE, concurrency=0, context=1024).fits
    assert not asked("Qwen3-8B", LARGE, utilization=1.5, context=1024).fits


def test_the_catalog_files_say_where_they_have_it_from() -> None:
    folder = Path(quantizations.FILE).parent
    for name, section in (("quantizations", "schemes"), ("models", "models"), ("recipes", "recipes")):
        entries = yaml.safe_load((folder / f"{name}.yaml").read_text())[section]
        assert [entry["id"] for entry in entries if not entry.get("source")] == []
