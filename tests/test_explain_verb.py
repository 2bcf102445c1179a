"""`pilot explain` as a program: its exit codes, its JSON, and both languages."""

import io
import json
import sys

import pytest

from console.__main__ import main


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, *words: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code = main(["explain", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


GOOD = "vllm serve Qwen/Qwen3-8B --max-model-len 8192"
BAD = "vllm serve deepseek-ai/deepseek-moe-7b --memory_efficient_attention --async_engine"


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        (GOOD, (), 0),
        (BAD, (), 1),
        ("vllm serve /m/x --swap-space 4", ("--release", "0.13.0"), 0),
        ("vllm serve /m/x --swap-space 4", ("--release", "0.18.0"), 1),
        ("vllm serve /m/x --quantization fp8", ("--chip", "910B4"), 1),
        ("vllm serve /m/x --quantization fp8", ("--chip", "950"), 0),
        ("hello", (), 2),
        ("", ("--json",), 2),
        (GOOD, ("--chip", "H100"), 2),
        (GOOD, ("--chip", ""), 2),
        (GOOD, ("--release", "9.9.9"), 2),
        (GOOD, ("--release", ""), 2),
        (GOOD, ("--release", "v0.23.0"), 0),
    ],
)
def test_the_exit_code_tells_what_was_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, words: tuple[str, ...], code: int
) -> None:
    assert run(monkeypatch, capsys, text, *words)[0] == code


def test_what_is_not_in_the_catalog_is_refused_with_what_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "910B4" in run(monkeypatch, capsys, GOOD, "--chip", "H100")[2]
    assert "0.23.0.post1, 0.23.0," in run(monkeypatch, capsys, GOOD, "--release", "9.9.9")[2]


def test_json_has_the_spec_and_a_finding_for_each_thing_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(monkeypatch, capsys, BAD, "--json")
    found = json.loads(out)
    assert code == 1
    assert found["spec"]["model_folder"] == "deepseek-ai/deepseek-moe-7b"
    assert [one["token"] for one in found["findings"]] == [
        "--memory_efficient_attention",
        "--async_engine",
        "deepseek-ai/deepseek-moe-7b",
    ]
    assert all(one["problem"] and one["instead"] for one in found["findings"])


@pytest.mark.parametrize(
    ("language", "heading", "words"),
    [("en_US.UTF-8", "Instead", "asynchronous"), ("zh_CN.UTF-8", "应改为", "异步引擎")],
)
def test_it_speaks_the_language_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], language: str, heading: str, words: str
) -> None:
    monkeypatch.setenv("LC_ALL", language)
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = run(monkeypatch, capsys, BAD)
    assert heading in out
    assert words in out
