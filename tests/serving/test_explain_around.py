"""What is wrong around the options of a paste: signs, containers, sizes of the model."""

import pytest

from console.catalog.flags import told
from console.serving.explain import understand
from tests.serving.test_explain import PLAIN, findings, read, stated


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve “/m/x” ——tensor-parallel-size　2 —max-model-len 8192",
        "vllm serve ‘/m/x’ –tp 2 －－max-model-len＝8192",
    ],
)
def test_signs_of_a_text_program_are_understood_and_told(text: str) -> None:
    found = read(text)
    assert stated(found) == PLAIN
    assert len(found.findings) == 3 + ("\u3000" in text), "a wide blank is one more"
    assert sum("text program" in told(one.problem, "en") for one in found.findings) == 3
    assert "/m/x" in [told(one.instead, "en") for one in found.findings]


def test_a_quote_that_is_never_closed_is_told() -> None:
    assert "never closed" in findings(read("vllm serve '/m/x -tp 2"))["'/m/x"]


def test_a_container_without_what_it_needs() -> None:
    short = "docker run --device /dev/davinci0 -p 8000:8000 quay.io/ascend/vllm-ascend:v0.23.0 vllm serve /data/m -tp 2"
    said = [f"{told(one.problem, 'en')} {told(one.instead, 'en')}" for one in read(short).findings]
    assert any("--device /dev/davinci_manager --device /dev/devmm_svm --device /dev/hisi_hdc" in one for one in said)
    assert any("-v /usr/local/Ascend/driver/lib64/:/usr/local/Ascend/driver/lib64/" in one for one in said)
    assert any("--shm-size=1g" in one for one in said)
    assert any("-v /data/m:/data/m:ro" in one for one in said)
    assert any(
        "No card is given" in told(one.problem, "en")
        for one in read(short.replace("--device /dev/davinci0 ", "")).findings
    )
    runtime = read(short.replace("--device /dev/davinci0", "--runtime ascend"))
    assert not any("driver of the host" in told(one.problem, "en") for one in runtime.findings)


@pytest.mark.parametrize(
    ("words", "token", "said"),
    [
        (
            "/models/DeepSeek-R1-Distill-Qwen-7B --tensor-parallel-size 8",
            "--tensor-parallel-size",
            "28 attention heads",
        ),
        ("Qwen/Qwen3-8B --max-model-len 200000", "--max-model-len", "40960"),
    ],
)
def test_sizes_that_the_model_does_not_have(words: str, token: str, said: str) -> None:
    assert said in findings(read(f"vllm serve {words}"))[token]
    assert not read("vllm serve Qwen/Qwen3-8B --max-model-len 200000 --hf-overrides '{\"a\": 1}'").findings


@pytest.mark.parametrize("release", ["0.23.0", "0.23.0.post1"])
def test_fp8_is_doubted_where_no_chip_is_named(release: str) -> None:
    found = understand("vllm serve /m/x --quantization fp8", release)
    assert "910B" in findings(found)["--quantization"]
    assert "quantization" not in found.fields
    assert not understand("vllm serve /m/x --quantization fp8", release, "Ascend950").findings


@pytest.mark.parametrize(
    ("model", "instead"),
    [
        ("Qwen/Qwen3-32B", "vllm-ascend/Qwen3-32B-W8A8"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "--quantization"),
        ("vllm-ascend/Qwen3-32B-W8A8", None),
        ("/data/models/Qwen3-32B", None),
        ("somebody/else", None),
    ],
)
def test_quantization_of_a_model_that_is_not_quantized_is_a_finding(model: str, instead: str | None) -> None:
    found = [one for one in understand(f"vllm serve {model} --quantization ascend").findings if one.value == "ascend"]
    assert len(found) == (instead is not None)
    if instead is not None:
        assert instead in told(found[0].instead, "en")
