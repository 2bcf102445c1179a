"""What `pilot` says of words that it does not take: every error of argparse, in the language of the terminal."""

import argparse

import pytest

from console.command_line import Parser, told
from console.terminal import WRONG_INPUT


@pytest.fixture
def parser() -> Parser:
    one = Parser(prog="pilot")
    one.add_argument("--number", type=int)
    one.add_argument("--share", type=float)
    one.add_argument("--numerous", action="store_true")
    one.add_argument("--pair", nargs=2)
    one.add_argument("--many", nargs="+")
    one.add_argument("--kind", choices=["a", "b"])
    one.add_argument("--port", type=_port)
    either = one.add_mutually_exclusive_group(required=True)
    either.add_argument("--this")
    either.add_argument("--that")
    one.add_argument("place", metavar="地点")
    return one


def _port(words: str) -> int:
    raise argparse.ArgumentTypeError(f"{words} 不是端口")


ERRORS = [
    (["--this=1"], "Missing: 地点", "缺少：地点"),
    (["x"], "One of these is needed: --this --that", "需要其中之一：--this --that"),
    (["x", "--this=1", "--bad"], "Not understood: --bad", "无法识别：--bad"),
    (["x", "--num=1"], "--num=1 may mean --number, --numerous: write", "--num=1 可能指 --number, --numerous：请写全"),
    (["x", "--kind=c"], "--kind: 'c' is none of", "--kind: 'c' 不在可选项之中"),
    (["x", "--number"], "--number: a value is missing", "--number: 其后缺少取值"),
    (["x", "--many"], "--many: at least one value", "--many: 其后至少需要一个取值"),
    (["x", "--pair", "1"], "--pair: 2 values must", "--pair: 其后须有 2 个取值"),
    (["x", "--numerous=1"], "--numerous: it takes no value, and '1'", "--numerous: 它不带取值，却给出了 '1'"),
    (["x", "--this=1", "--that=2"], "--that: it cannot stand together with --this", "--that: 不能与 --this 同时使用"),
    (["x", "--number=a\nb"], "--number: 'a\\nb' is no whole number", "--number: 'a\\nb' 不是整数"),
    (["x", "--share=a: b"], "--share: 'a: b' is no number", "--share: 'a: b' 不是数字"),
    (["x", "--port=1"], "--port: 1 不是端口", "--port: 1 不是端口"),
]


@pytest.mark.parametrize(("words", "english", "chinese"), ERRORS, ids=[error[1][:30] for error in ERRORS])
@pytest.mark.parametrize("language", ["en_US.UTF-8", "zh_CN.UTF-8"])
def test_every_error_is_told_in_the_language_of_the_terminal(
    parser: Parser,
    words: list[str],
    english: str,
    chinese: str,
    language: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LC_ALL", language)
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(words)
    assert ended.value.code == WRONG_INPUT
    said = capsys.readouterr().err
    assert f"pilot: {chinese if language.startswith('zh') else english}" in said
    assert said.startswith("用法: pilot" if language.startswith("zh") else "usage: pilot")


def test_help_is_in_one_language(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert parser.format_help().startswith("用法: pilot")


def test_what_is_none_of_these_stays_as_it_is() -> None:
    assert told("argument --port: 7 is no port") == "--port: 7 is no port"
    assert told("something new") == "something new"
