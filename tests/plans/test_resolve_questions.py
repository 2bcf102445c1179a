"""Combinations and flags in circulation are recognised in free words, in either language, and answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.catalog.releases import Row
from console.errors import InvalidInput
from console.plans.questions import LONGEST, versions_in, why_not
from console.plans.refusals import Route
from console.plans.resolve import in_language
from tests.plans.resolving import KNOWN, on

CLAIMS = {
    "cann-6-with-vllm-0.3": (
        "CANN 6.3.0 + vLLM 0.3.1", "cann6.3 with vllm v0.3.1", "CANN 6.3.RC1，vllm==0.3.3",
        "昇腾CANN 6.3.0搭配vLLM版本0.3.1",
        "vLLM 0.3.1", "why not CANN 7.0?",
    ),
    "ascend-extra": ("pip install -e .[ascend]", "USE_ARM_NEON=1 pip install vllm"),
    "ascend-options": ("from vllm import LLM, AscendOptions", "use_fp8=True", 'quantization="awq"'),
    "fp8-on-910b": ("FP8 on 910B3", "昇腾910B支持FP8混合精度"),
    "910b-32-gb": ("910B with 32 GB HBM2e", "910B 32G"),
    "tp4-pp2": ("TP=4 with PP=2 on 8 cards", "--tensor-parallel-size 4 --pipeline-parallel-size 2"),
    "deepseek-moe-7b": ("deepseek-moe-7b", "deepseek-ai/DeepSeek-MoE-7B-chat"),
    "memory-efficient-attention": ("--memory_efficient_attention", "--memory-efficient-attention"),
    "async-engine": ("--async_engine", "vllm serve --async-engine"),
    "codes-a012-b205": ("A012", "错误码B205是什么"),
    "layernorm-gelu": ("fused LayerNorm and GELU", "LayerNorm+GELU融合"),
    "hbm-pooling": ("HBM pooling reduces the KV cache", "HBM池化减少KV缓存"),
    "cpu-waits-30-percent": ("CPU waits for NPU more than 30 percent", "CPU等待NPU超过30%"),
    "vllm-2": ("MoE routing in vLLM 2.0",),
    "two-910b": ("two 910B cards", "两张910B", "2 x 910B"),
}  # fmt: skip


def codes(text: str) -> list[str]:
    return [one.code for one in why_not(text, KNOWN).answers]


def test_every_claim_of_the_catalog_is_asked_about() -> None:
    assert set(CLAIMS) == {one.id for one in KNOWN.claims}


@pytest.mark.parametrize(("claim", "text"), [(claim, text) for claim, texts in CLAIMS.items() for text in texts])
def test_a_claim_is_recognised_by_its_versions_and_flags(claim: str, text: str) -> None:
    assert claim in codes(text)
    one = next(one for one in why_not(text, KNOWN).answers if one.code == claim)
    assert one.source
    for language in ("en", "zh"):
        assert in_language(one.finding, language)
        assert in_language(one.instead, language)


@pytest.mark.parametrize(
    "text",
    [
        "vllm-ascend 0.23.0 with vLLM 0.23.0 on CANN 9.1.0",
        "FP8 on a 950DT",
        "910B4 with 32 GB",
        "TP=8",
        "deepseek-moe-16b",
        "--async-scheduling",
        "CANN 9.1.0",
        "quantization=ascend",
        "RMSNorm and SwiGLU",
    ],
)
def test_what_is_no_claim_is_not_taken_for_one(text: str) -> None:
    assert not set(codes(text)) & set(CLAIMS)


def test_the_circulating_combination_gets_reason_source_and_alternative() -> None:
    found = why_not("CANN 6.3.0 + vLLM 0.3.1", KNOWN)
    assert found.versions == {"cann": "6.3.0", "vllm": "0.3.1"}
    claim = found.answers[0].plain()
    assert claim["verdict"] == "false"
    assert "0.7.1rc1 of 2025-02-19" in str(claim["finding"])
    assert "0.23.0.post1" in str(claim["instead"])
    assert "COMPATIBILITY" in str(claim["source"])
    assert [one.code for one in found.answers[1:]] == ["vllm_without_release", "cann_without_release"]


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("vllm-ascend 0.23.0 with vllm 0.22.1", "plugin_vllm", "vLLM 0.23.0, not with 0.22.1"),
        ("vllm_ascend==0.18.0, CANN 9.1.0", "plugin_cann", "8.5.1 / 9.0.0"),
        ("torch 2.11.0 with vllm-ascend 0.23.0", "plugin_torch", "torch 2.10.0"),
        ("vLLM 0.20.1", "vllm_without_release", "0.19.1, 0.20.2"),
        ("vllm 0.18.0 on CANN 9.1.0", "vllm_cann", "CANN 8.5.1"),
        ("CANN 9.1.0 with driver 24.1.1", "driver_cann", "25.2.x"),
        ("驱动 24.1.rc2", "driver_cann", "24.1.rc2"),
        ("Python 3.13", "python", "3.10 to 3.12"),
        ("vllm-ascend 0.23.0 on python 3.13", "python", "3.10 to 3.12"),
        ("a 910B", "plain_910b", "first generation"),
        ("pip install vllm==0.23.0 vllm-ascend==0.23.0", "joint-install", "VLLM_TARGET_DEVICE=empty"),
        ("麒麟 V10 上用 pip 安装 wheel", "kylin-containers", "glibc 2.28"),
        ("vllm-ascend 0.18.0 with CANN 9.0.0", "fits", "torch-npu 2.9.0.post2"),
        ("vllm 0.13.0", "fits", "vllm-ascend 0.13.0"),
        ("torch-npu 2.5.1 with vllm 0.9.1", "vllm_torch_npu", "torch-npu 2.5.1.post1 (vllm-ascend 0.9.1)"),
        ("vLLM 0.23.0 + torch 2.11.0", "vllm_torch", "torch 2.10.0 (vllm-ascend 0.23.0.post1), not with torch 2.11.0"),
        ("vLLM 0.23.0, triton-ascend 3.2.0", "vllm_triton_ascend", "triton-ascend 3.2.2"),
        ("CANN 9.1.0 with torch-npu 2.9.0", "unlisted", "all of these versions together"),
        ("vllm 0.18.0, CANN 9.0.0, torch-npu 2.9.0.post1+git4c901a4", "unlisted", "all of these versions together"),
    ],
)
def test_other_combinations_are_held_against_the_releases(text: str, code: str, words: str) -> None:
    found = {one.code: one for one in why_not(text, KNOWN).answers}
    assert code in found
    assert words in in_language(found[code].finding, "en")


def test_the_version_that_mends_it_is_named() -> None:
    found = {one.code: one for one in why_not("torch-npu 2.5.1 with vllm 0.9.1", KNOWN).answers}
    assert in_language(found["vllm_torch_npu"].instead, "en").startswith("Fetch next: torch")
    assert "2.5.1.post1" in in_language(found["vllm_torch_npu"].instead, "en")


@pytest.mark.parametrize("row", KNOWN.rows, ids=lambda row: row.vllm_ascend)
def test_only_what_one_release_has_together_is_said_to_fit(row: Row) -> None:
    """Every release fits with its own versions, and with none of them changed to that of a far release."""
    variant = row.variants[0]
    own = {"vllm": row.vllm[0], "CANN": variant.cann, "torch": row.torch, "torch-npu": variant.torch_npu}
    assert "fits" in codes(" + ".join(f"{part} {version}" for part, version in own.items()))
    for part, other in {"CANN": "8.0.0", "torch-npu": "1.11.0", "torch": "1.11.0"}.items():
        if other != own[part]:
            text = " + ".join(f"{name} {version}" for name, version in {**own, part: other}.items())
            assert "fits" not in codes(text), text


@pytest.mark.parametrize("text", ["two 910B cards", "vLLM 0.23.0 on 910B"])
def test_the_word_910b_is_explained_once_and_does_not_contradict_a_true_claim(text: str) -> None:
    found = [(one.code, one.verdict) for one in why_not(text, KNOWN).answers]
    assert found.count(("plain_910b", "misleading")) == 1
    assert not [code for code, verdict in found if verdict == "wrong"]


def test_what_is_asked_about_is_named_even_without_a_version() -> None:
    assert all(in_language(one.about, "en") for one in why_not("Ascend910ProB", KNOWN).answers)


def test_a_release_that_does_not_go_on_the_host_says_why_there() -> None:
    found = why_not("vllm-ascend 0.23.0.post1", KNOWN, on(Route.VENV))
    assert [(one.kind, one.code) for one in found.answers] == [("refused", "source_only")]
    assert "vllm-ascend 0.23.0 with vLLM 0.23.0" in in_language(found.answers[0].instead, "en")


def test_words_without_anything_known_have_no_answer() -> None:
    assert why_not("hello world", KNOWN).answers == ()


@pytest.mark.parametrize("text", ["", "  ", "x" * (LONGEST + 1)])
def test_no_question_and_a_book_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        why_not(text, KNOWN)


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("vllm-ascend==0.18.0 and vllm==0.18.1", {"vllm_ascend": "0.18.0", "vllm": "0.18.1"}),
        ("PyTorch 2.9, torch_npu 2.9.0.post1+git4c901a4", {"torch": "2.9", "torch_npu": "2.9.0.post1+git4c901a4"}),
        ("CANN: 8.2.RC1; HDK 25.0.rc1.1", {"cann": "8.2.RC1", "driver": "25.0.rc1.1"}),
        ("vllm（0.9.1）", {"vllm": "0.9.1"}),
        ("vLLM on 8 cards", {}),
    ],
)
def test_versions_are_read_from_free_words(text: str, versions: dict[str, str]) -> None:
    assert versions_in(text) == versions


@given(st.text(min_size=1, max_size=200).filter(str.strip))
def test_whatever_is_asked_nothing_breaks(text: str) -> None:
    for one in why_not(text, KNOWN).answers:
        assert one.plain()


@given(st.sampled_from(["CANN", "vLLM", "vllm-ascend", "torch", "torch-npu", "python", "driver"]), st.text(max_size=8))
def test_whatever_version_is_asked_about_nothing_breaks(part: str, version: str) -> None:
    why_not(f"{part} 3.{version} and vllm 0.{version}", KNOWN, on())
