"""Only what a release takes is offered, and each purpose leads to settings that a release takes."""

from dataclasses import fields, replace

import pytest

from console.catalog import models, parsers
from console.serving import options
from console.serving.asked import AUTO, ServeSpec
from console.serving.known import method_trouble
from console.serving.labels import LABELS, label
from console.serving.manners import manners
from console.serving.offered import graph_modes, methods, offered, without_unknown
from console.serving.purpose import DEMANDS, Purpose, demand_of, round_context

EVERYTHING = ServeSpec(
    backend="ascend_venv",
    model_folder="/m",
    served_name="m",
    port=8000,
    dtype=AUTO,
    data_parallel=2,
    expert_parallel=True,
    context=4096,
    max_num_seqs=16,
    max_batched_tokens=4096,
    utilization=0.8,
    quantization="ascend",
    trust_remote_code=True,
    enforce_eager=True,
    async_scheduling=True,
    prefix_caching=True,
    chunked_prefill=True,
    speculative={"method": "ngram", "num_speculative_tokens": 2},
    additional_config={"enable_cpu_binding": True},
    lora_modules=("a=/b",),
)


@pytest.mark.parametrize("release", parsers.releases())
def test_what_is_offered_is_known_and_what_is_left_is_taken(release: str) -> None:
    by_name = parsers.parser_of(release).by_name
    assert all(one.flag in by_name for one in offered(release).values())
    spec, gone = without_unknown(replace(EVERYTHING, release=release))
    assert not [one for one in gone if one in by_name]
    refused = [one.field for one in options.refusals(spec) if "does not know" in str(one.reason)]
    assert refused == []


def test_an_old_release_has_less_to_offer() -> None:
    assert "async_scheduling" not in offered("0.9.1")
    assert "async_scheduling" in offered("0.23.0")
    assert graph_modes("0.9.1") == ()
    assert "FULL_DECODE_ONLY" in graph_modes("0.23.0")
    gone = without_unknown(replace(EVERYTHING, release="0.7.3"))[1]
    assert "--speculative-config" in gone


@pytest.mark.parametrize("family", ["A2", "A3", "310P", "A5"])
@pytest.mark.parametrize("release", parsers.releases())
def test_quantizations_are_those_that_run(release: str, family: str) -> None:
    found = methods(release, family)
    assert "ascend" in found
    assert "awq" not in found
    assert ("fp8" in found) == (method_trouble("fp8", release, family) is None)


@pytest.mark.parametrize("release", parsers.releases())
def test_the_parsers_of_every_model_are_ones_of_the_release(release: str) -> None:
    parser = parsers.parser_of(release)
    for model in models.models():
        found = manners(f"/models/{model.name}", release)
        assert found.get("reasoning_parser", "") in ("", *parser.reasoning_parsers)
        assert found.get("tool_parser", "") in ("", *parser.tool_parsers)
    assert manners("/models/nobody-knows-this", release) == {}


def test_a_model_brings_its_parsers() -> None:
    assert manners("/w/DeepSeek-R1-Distill-Qwen-14B", "0.23.0") == {"reasoning_parser": "deepseek_r1"}


def test_purposes_divide_the_memory_differently() -> None:
    few, many, long = (DEMANDS[one] for one in Purpose)
    assert many.users > few.users > long.users
    assert long.context > few.context > many.context
    assert demand_of("nonsense") == few
    assert [round_context(one) for one in (27648, 32768, 5000, 1000)] == [16384, 32768, 4096, 1000]


def test_every_setting_has_a_name_for_people() -> None:
    assert set(LABELS) == {one.name for one in fields(ServeSpec)}
    assert str(label("--seed")) == "--seed"
