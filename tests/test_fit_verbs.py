"""`pilot fit`: the promised answer, the exit codes, and what wrong input is told."""

import json
from typing import Any

import pytest

from console.__main__ import main
from console.terminal import FAILED, OK, WRONG_INPUT

PROMISED = ["fits", "reason", "per_card_bytes", "max_context", "max_concurrency", "tp", "pp", "basis"]
PARTS = ["total", "usable", "weights", "kv", "reserve", "free"]


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("PILOT_DATA", str(tmp_path))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["fit", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_promised_answer(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(
        capsys, "Qwen3-32B", "--chip", "910B4", "--cards", "2", "--quantization", "w8a8",
        "--context", "32768", "--concurrency", "8",
    )  # fmt: skip
    assert code == FAILED
    assert list(said)[:8] == PROMISED
    assert list(said["per_card_bytes"]) == PARTS
    assert set(said["basis"].values()) <= {"documented", "computed", "measured"}
    assert set(PARTS) <= set(said["basis"])
    assert said["per_card_bytes"]["free"] < 0
    assert said["tp"] == 2


def test_what_fits_ends_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "--chip", "910B4", "--context", "4096")
    assert code == OK
    assert said["fits"] is True
    assert said["per_card_bytes"]["free"] >= 0
    assert said["max_context"] >= 4096


@pytest.mark.parametrize("name", ["fp8", "awq"])
def test_why_not(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, said = run(capsys, "Qwen3-32B", "--chip", "910B4", "--quantization", name, "--context", "2048")
    assert code == FAILED
    assert "W8A8" in said["reason"]
    assert (said["max_context"], said["max_concurrency"]) == (0, 0)
    assert said["rules"][0]["source"]
    assert not any("msModelSlim" in one for one in said["remarks"])


def test_a_remark_never_recommends_what_was_refused(capsys: pytest.CaptureFixture[str]) -> None:
    _, said = run(capsys, "Qwen3-8B", "--chip", "910B4", "--utilization", "0.95")
    assert said["fits"] is False
    assert any("utilization 0.89" in one for one in said["remarks"])
    _, nobody = run(capsys, "Qwen3-8B", "--chip", "910B4", "--concurrency", "0")
    assert not any("devices are used" in one for one in nobody["remarks"])


def test_a_checkpoint_says_its_quantization(capsys: pytest.CaptureFixture[str]) -> None:
    _, said = run(capsys, "vllm-ascend/Qwen3-32B-W8A8", "--chip", "910B4")
    assert said["quantization"] == "w8a8"


def test_what_others_hold_is_taken_off(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("Qwen3-8B", "--chip", "910B3", "--cards", "1")
    _, idle = run(capsys, *words)
    _, busy = run(capsys, *words, "--hbm-free", "30")
    assert busy["per_card_bytes"]["usable"] <= 30 * 2**30 < idle["per_card_bytes"]["usable"]
    assert busy["basis"]["total"] == "measured"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["DeepSeek-R2", "--chip", "910B4"], "DeepSeek-R1"),
        (["deepseek-moe-7b", "--chip", "910B4"], "deepseek-moe-16b-chat"),
        (["Qwen3-8B", "--chip", "H100"], "910B4"),
        (["Qwen3-8B"], "--chip"),
        (["--chip", "910B4"], "Name a model"),
        (["/nowhere/at/all", "--chip", "910B4"], "no folder"),
        (["Qwen3-8B", "--chip", "910B4", "--quantization", "int3"], "w8a8"),
        (["Qwen3-8B", "--chip", "910B4", "--release", "newest"], "0.23.0"),
        (["Qwen3-8B", "--chip", "910B4", "--release", "9.9.9"], "0.23.0.post1, 0.23.0,"),
        (["Qwen3-8B", "--chip", "910B4", "--release", ""], "0.23.0"),
        (["Qwen3-8B", "--chip", "910B4", "--quantization", ""], "w8a8"),
        (["Qwen3-8B", "--chip", "910B4", "--hbm-total", "65536"], "MiB"),
        (["Qwen3-8B", "--chip", "310P3"], "--hbm-total"),
        (["Qwen3-8B", "--chip", "910B4", "--hbm-free", "40"], "free"),
        (["Qwen3-8B", "--chip", "910B4", "--hbm-total", "-3"], "memory"),
    ],
)
def test_wrong_input(capsys: pytest.CaptureFixture[str], words: list[str], told: str) -> None:
    assert main(["fit", *words]) == WRONG_INPUT
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--hbm-total", "--hbm-free", "--utilization"])
@pytest.mark.parametrize("word", ["nan", "inf", "much"])
def test_what_is_no_number_is_refused(capsys: pytest.CaptureFixture[str], option: str, word: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fit", "Qwen3-8B", "--chip", "910B4", option, word])
    assert ended.value.code == WRONG_INPUT
    assert f"{word} is not a number" in capsys.readouterr().err


def test_a_release_may_have_its_v_in_front(capsys: pytest.CaptureFixture[str]) -> None:
    _, said = run(capsys, "Qwen3-8B", "--chip", "910B4", "--release", " v0.23.0.post1")
    assert said["release"] == "0.23.0.post1"


def test_tokens_may_be_written_short(capsys: pytest.CaptureFixture[str]) -> None:
    _, said = run(capsys, "Qwen3-8B", "--chip", "910B4", "--context", "8k", "--batched-tokens", "4K")
    assert said["context"] == 8000
    with pytest.raises(SystemExit):
        main(["fit", "Qwen3-8B", "--chip", "910B4", "--context", "8,000"])
    assert "8,000 is not a number" in capsys.readouterr().err


def test_what_has_no_part_in_the_answer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    main(["fit", "Qwen3-8B", "--chip", "910B4", "--table", "--quantization", "w8a8", "--cards", "9", "--tp", "3"])
    assert "Not used for this answer: --cards, --tp." in capsys.readouterr().err
    main(["fit", "Qwen3-8B", "--recipes", "--eager"])
    assert "MODEL" in (told := capsys.readouterr().err)
    assert "--eager" in told
    main(["fit", "--recipes", "--chip", "910B4", "--json"])
    assert capsys.readouterr().err == ""


def test_a_chip_whose_memory_must_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, "Qwen3-8B", "--chip", "310P3", "--hbm-total", "42", "--context", "2048")
    assert code == OK
    assert said["per_card_bytes"]["total"] == 42 * 2**30


@pytest.mark.parametrize(
    "words",
    [
        ["--tp", "3"],
        ["--tp", "0"],
        ["--cards", "0"],
        ["--context", "999999"],
        ["--batched-tokens", "0"],
        ["--pp", "1000000000"],
    ],
)
def test_settings_that_break_a_rule(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    code, said = run(capsys, "Qwen3-8B", "--chip", "910B3", "--cards", "4", *words)
    assert code == FAILED
    assert said["rules"]


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, "Qwen3-32B", "--chip", "910B4", "--table", "--concurrency", "4")
    assert code == OK
    assert {row["cards"] for row in said["rows"]} == {1, 2, 4, 8, 16}
    assert all(row["reason"] for row in said["rows"])
    assert main(["fit", "Qwen3-32B", "--chip", "910B4", "--table", "--quantization", "w8a8"]) == OK
    assert "w8a8" in capsys.readouterr().out


def test_the_recipes(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, "--recipes", "--chip", "910B4")
    assert code == OK
    assert {one["hbm_gib"] for one in said["recipes"]} == {32}
    assert all(one["fits"] for one in said["recipes"])
    _, both = run(capsys, "--recipes")
    assert {one["hbm_gib"] for one in both["recipes"]} == {32, 64}


def test_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "Qwen3-8B", "--chip", "910B4", "--cards", "1", "--context", "4096"]) == OK
    said = capsys.readouterr().out
    assert "It fits" in said
    assert "documented" in said
    assert "GiB" in said
    assert main(["fit", "--recipes"]) == OK
    assert "DeepSeek-R1-Distill-Qwen-14B" in capsys.readouterr().out
