"""What is installed is held against the catalog, and each conflict names the next package."""

from typing import Any

import pytest

from console.plans.parts import conflicts
from console.text import render
from tests.plans.resolving import KNOWN, target

FITTING = {
    "vllm": "0.23.0",
    "vllm_ascend": "0.23.0",
    "torch": "2.10.0",
    "torch_npu": "2.10.0.post4",
    "triton_ascend": "3.2.2",
}

FIRMWARE = "Ascend-hdk-910b-npu-firmware_7.8.0.6.201.run"
TOOLKIT = "Ascend-cann-toolkit_9.1.0_linux-aarch64.run"


def found(**changes: Any) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Code -> words and files to fetch."""
    host = target(cann=changes.pop("cann", "9.1.0"), parts=changes.pop("parts", FITTING), **changes)
    return {one.code: (render(one.text, "en"), one.fetch) for one in conflicts(host, KNOWN)}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"parts": {}},
        {"parts": {}, "cann": None},
        {"parts": {}, "driver": None},
        {"parts": {**FITTING, "torch": "2.10.0+cpu"}},
        {"parts": {**FITTING, "vllm": "0.23.0+empty"}},
        {"parts": {"torch": "2.10.0+cpu", "torch_npu": "2.10.0.post4"}},
        {"parts": {"vllm": "0.9.1", "vllm_ascend": "0.9.1rc3", "torch": "2.5.1"}, "cann": "8.2.RC1"},
        {"parts": {"vllm_ascend": "0.18.0", "torch_npu": "2.9.0.post2", "triton_ascend": "3.2.1"}, "cann": "9.0.0"},
        {"pythons": ((3, 9), (3, 12))},
        {"parts": {"vllm": "0.23.0+cpu", "torch": "2.11.0+cpu"}, "chip": "", "cann": None, "driver": None},
    ],
)
def test_what_goes_together_is_no_conflict(changes: dict[str, Any]) -> None:
    assert found(**changes) == {}


@pytest.mark.parametrize(
    ("changes", "code", "words", "file"),
    [
        ({"driver": "24.1.1"}, "driver_cann", "Driver 24.1.1", FIRMWARE),
        ({"driver": "25.0.1", "parts": {}}, "driver_cann", "CANN 9.1.0", FIRMWARE),
        ({"driver": "25.0.1", "cann": None}, "driver_cann", "CANN 9.1.0", FIRMWARE),
        ({"cann": "8.5.1"}, "plugin_cann", "CANN 9.1.0, not with 8.5.1", TOOLKIT),
        (
            {"parts": {**FITTING, "torch": "2.11.0"}}, "plugin_torch", "torch 2.10.0, not with 2.11.0",
            "torch-2.10.0-cp311-cp311-manylinux_2_28_aarch64.whl",
        ),
        (
            {"parts": {**FITTING, "torch": "2.11.0"}, "arch": "x86_64"}, "plugin_torch", "torch 2.10.0",
            "torch==2.10.0+cpu",
        ),
        (
            {"parts": {**FITTING, "torch_npu": "2.9.0"}}, "plugin_torch_npu", "torch-npu 2.10.0.post4, not with 2.9.0",
            "torch_npu-2.10.0.post4-cp311-cp311-manylinux_2_28_aarch64.whl",
        ),
        ({"parts": {**FITTING, "triton_ascend": "3.2.0"}}, "plugin_triton_ascend", "3.2.2", "triton-ascend==3.2.2"),
        ({"parts": {**FITTING, "vllm": "0.22.1"}}, "plugin_vllm", "vLLM 0.23.0, not with 0.22.1", "vllm-0.23.0.tar.gz"),
        ({"pythons": ((3, 13),)}, "python", "Python 3.10 to 3.12; this host has 3.13", "Python 3.12"),
        (
            {"parts": {"torch": "2.9.0", "torch_npu": "2.10.0.post4"}}, "torch_pair", "goes with torch 2.10.0",
            "torch-2.10.0-cp311-cp311-manylinux_2_28_aarch64.whl",
        ),
        ({"parts": {}, "cann": "6.3.0"}, "cann_without_release", "CANN 6.3.0", TOOLKIT),
        ({"parts": {"vllm": "0.33.0"}}, "vllm_without_release", "vLLM 0.33.0", "vllm-0.23.0.tar.gz"),
        ({"parts": {"vllm": "0.18.0"}}, "vllm_cann", "CANN 8.5.1", "Ascend-cann-toolkit_8.5.1_linux-aarch64.run"),
        (
            {"parts": {"vllm": "0.23.0", "torch_npu": "2.9.0"}}, "vllm_torch_npu", "torch-npu 2.10.0.post4",
            "torch_npu-2.10.0.post4-cp311-cp311-manylinux_2_28_aarch64.whl",
        ),
        (
            {"parts": {"vllm": "0.23.0", "torch": "2.11.0"}}, "vllm_torch", "torch 2.10.0",
            "torch-2.10.0-cp311-cp311-manylinux_2_28_aarch64.whl",
        ),
    ],
)  # fmt: skip
def test_a_conflict_names_the_next_package(changes: dict[str, Any], code: str, words: str, file: str) -> None:
    answers = found(**changes)
    assert list(answers) == [code]
    assert words in answers[code][0]
    assert answers[code][1][0] == file


def test_the_variant_of_the_cann_that_is_there_counts() -> None:
    parts = {"vllm_ascend": "0.18.0", "torch_npu": "2.9.0.post2"}
    assert list(found(cann="8.5.1", parts=parts)) == ["plugin_torch_npu"]
    assert found(cann="9.0.0", parts=parts) == {}


def test_the_lowest_layer_comes_first() -> None:
    everything = found(driver="24.1.1", cann="8.5.1", parts={**FITTING, "vllm": "0.22.1", "torch": "2.9.0"})
    assert list(everything) == ["driver_cann", "plugin_cann", "plugin_torch", "plugin_vllm"]


def test_a_release_nobody_knows_is_told_with_its_neighbours() -> None:
    words, files = found(parts={"vllm_ascend": "0.19.0"})["release_unknown"]
    assert "0.18.0, 0.19.1rc1" in words
    assert files == ()


def test_an_unsupported_chip_is_the_only_thing_to_say() -> None:
    assert list(found(chip="910B", driver="22.0.4.1")) == ["chip_unsupported"]


def test_the_operators_of_the_chip_are_fetched_with_cann() -> None:
    assert found(chip="Ascend910", cann="8.5.1")["plugin_cann"][1] == (
        "Ascend-cann-toolkit_9.1.0_linux-aarch64.run",
        "Ascend-cann-A3-ops_9.1.0_linux-aarch64.run",
        "Ascend-cann-nnal_9.1.0_linux-aarch64.run",
    )
