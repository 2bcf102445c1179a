"""Every collected output must give the values that were read off it by hand."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.facts.kinds import KINDS, parse

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "host"
INDEX: list[dict[str, Any]] = yaml.safe_load((SAMPLES / "index.yaml").read_text(encoding="utf-8"))["files"]


def differences(expected: object, found: object, place: str = "") -> Iterator[str]:
    """Where `found` lacks something of `expected`; further fields in `found` are welcome."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from differences(value, found.get(key, "(no such field)"), f"{place}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, f"{place}[{index}]")
    elif expected != found or isinstance(expected, bool) != isinstance(found, bool):
        yield f"{place}: expected {expected!r}, found {found!r}"


@pytest.mark.parametrize("sample", INDEX, ids=lambda sample: str(sample["file"]))
def test_sample_gives_its_expected_values(sample: dict[str, Any]) -> None:
    expected = dict(sample["expect"])
    found = parse(sample["kind"], (SAMPLES / sample["file"]).read_text(encoding="utf-8"))
    if expected["status"] == "error":  # the wording is ours, the meaning is in error_kind
        expected.pop("message")
        assert found["message"]
    assert not list(differences(expected, found))


def test_every_kind_has_a_sample() -> None:
    assert {sample["kind"] for sample in INDEX} == set(KINDS)


def test_every_text_file_is_in_the_index() -> None:
    assert {sample["file"] for sample in INDEX} == {path.name for path in SAMPLES.glob("*.txt")}


RETYPINGS = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "trailing blanks": lambda text: text.replace("\n", "   \n"),
    "byte order mark": lambda text: "\ufeff" + text,
    "coloured": lambda text: "\x1b[0;32m" + text.replace("\n", "\x1b[0m\n\x1b[1m"),
    "prompt around it": lambda text: "[root@host ~]# some command\n" + text + "\n[root@host ~]# ",
    "empty lines": lambda text: text.replace("\n", "\n\n"),
    "quoted": lambda text: "".join(f"> {line}\n" for line in text.split("\n")),
    "in a code block": lambda text: f"```\n{text}\n```\n",
    "a non-breaking blank for a blank": lambda text: text.replace(" ", "\u00a0"),
    "full-width signs": lambda text: text.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    "pasted twice": lambda text: text + "\n" + text if len(set(text.split("\n"))) > 6 else text,
}


@pytest.mark.parametrize("way", RETYPINGS)
@pytest.mark.parametrize("sample", INDEX, ids=lambda sample: str(sample["file"]))
def test_the_way_a_text_was_pasted_changes_nothing(sample: dict[str, Any], way: str) -> None:
    text = (SAMPLES / sample["file"]).read_text(encoding="utf-8")
    if "\x1b" in RETYPINGS[way](""):
        text = text.rstrip("\n")
    expected, found = parse(sample["kind"], text), parse(sample["kind"], RETYPINGS[way](text))
    assert not list(
        differences(
            {**expected, "unread": [], "line": "", "message": ""}, {**found, "unread": [], "line": "", "message": ""}
        )
    )
