"""Outputs cut, reflowed and mixed with other lines: nothing may crash, and no number may appear from nowhere."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from console.facts.kinds import KINDS, parse

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "host"
INDEX: list[dict[str, Any]] = yaml.safe_load((SAMPLES / "index.yaml").read_text(encoding="utf-8"))["files"]
TEXTS = [(sample["kind"], (SAMPLES / sample["file"]).read_text(encoding="utf-8")) for sample in INDEX]
TABLES = [text for kind, text in TEXTS if kind == "npu_smi_info"]
COUNTED = {"links", "samples", "npus", "dimms", "wide_dimms", "channels", "empty", "total_gb", "slots_declared", "code"}
"""Fields that count or add up what the text holds."""
NOISE = [
    "[root@node-7 ~]# npu-smi info",
    "Last login: Tue Dec  1 09:12:33 2026 from 10.0.0.1",
    "grep: warning: stray \\ before /",
    "[ 8123.456789] nfs: server 10.1.2.3 not responding, still trying",
    "-bash: warning: setlocale: LC_ALL: cannot change locale (zh_CN.UTF-8)",
    "警告：磁盘空间不足",
    "",
    "```",
]
some_text = st.sampled_from(TEXTS)
some_table = st.sampled_from(TABLES)
some_random = st.randoms(use_true_random=False)


def numbers(value: object, name: str = "") -> Iterator[float]:
    """Every number in a result that must stand in the text."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if key not in COUNTED:
                yield from numbers(entry, key)
    elif isinstance(value, list):
        for entry in value:
            yield from numbers(entry, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def assert_nothing_invented(kind: str, text: str) -> dict[str, object]:
    found = parse(kind, text)
    assert found["status"] in ("ok", "partial", "error")
    there = {float(digits) for digits in re.findall(r"\d+(?:\.\d+)?", text)} | {
        float(digits) for digits in re.findall(r"\d+", text)
    }
    assert set(map(float, numbers(found))) <= there
    if "dimms" in found:
        assert found["dimms"] + found["empty"] <= text.count("Memory Device")
        assert (found["wide_dimms"] or 0) <= found["dimms"]
        assert sum(count for _, count in found["channels"]) <= found["dimms"]
    return found


def reflowed(text: str, dice: random.Random) -> str:
    """Runs of blanks of another length, sometimes a tab."""
    return re.sub(r"(?<=\S)( {2,})(?=\S)", lambda _: dice.choice([" ", "   ", "\t", " " * dice.randint(1, 9)]), text)


def with_noise(text: str, dice: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(dice.randint(1, 4)):
        lines.insert(dice.randint(0, len(lines)), dice.choice(NOISE))
    return "\n".join(lines)


@settings(max_examples=150, deadline=None)
@given(some_text, st.data())
def test_a_cut_text_never_crashes_and_invents_nothing(sample: tuple[str, str], data: st.DataObject) -> None:
    kind, text = sample
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    assert_nothing_invented(kind, text[begin:end])


@settings(max_examples=100, deadline=None)
@given(some_text, some_random)
def test_a_mangled_text_never_crashes_and_invents_nothing(sample: tuple[str, str], dice: random.Random) -> None:
    kind, text = sample
    text = with_noise(reflowed(text, dice), dice)
    lines = text.split("\n")
    if dice.random() < 0.3:
        dice.shuffle(lines)
    assert_nothing_invented(kind, "\n".join(lines))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.one_of(st.text(max_size=400), some_text.map(lambda sample: sample[1])))
def test_any_text_for_any_kind_gives_an_answer(kind: str, text: str) -> None:
    assert parse(kind, text)["status"] in ("ok", "partial", "error")


@settings(max_examples=150, deadline=None)
@given(some_text, some_random)
def test_lines_of_others_in_between_change_nothing(sample: tuple[str, str], dice: random.Random) -> None:
    kind, text = sample
    without = {"unread", "line", "message"}
    plain, noisy = parse(kind, text), parse(kind, with_noise(text, dice))
    assert {k: v for k, v in noisy.items() if k not in without} == {k: v for k, v in plain.items() if k not in without}


@settings(max_examples=150, deadline=None)
@given(some_table, some_random)
def test_other_column_widths_change_nothing(text: str, dice: random.Random) -> None:
    assert parse("npu_smi_info", reflowed(text, dice)) == parse("npu_smi_info", text)


@settings(max_examples=200, deadline=None)
@given(some_table, st.data())
def test_a_table_cut_at_its_end_gives_true_values_or_none(text: str, data: st.DataObject) -> None:
    """What a cut row still shows is the value of the whole row: half a number is not a number."""
    whole = parse("npu_smi_info", text)
    cut = parse("npu_smi_info", text[: data.draw(st.integers(0, len(text)))])
    if cut["status"] == "error":
        return
    for rows in ("devices", "processes"):
        entries: Any = whole[rows]
        for index, entry in enumerate(cut[rows]):  # type: ignore[arg-type]
            assert all(value is None or value == entries[index][key] for key, value in entry.items())
    assert set(cut["idle_npus"]) <= set(whole["idle_npus"])  # type: ignore[call-overload]
    missing = len(whole["devices"]) - len(cut["devices"])  # type: ignore[arg-type]
    if missing == 0 and not cut["incomplete_npus"]:
        assert cut["devices"] == whole["devices"]


RETYPINGS = {
    "header in lower case": lambda text: re.sub(
        r"^.*(?:Health|Bus-Id|Process id).*$", lambda m: m[0].lower(), text, flags=re.M
    ),
    "no borders": lambda text: "\n".join(line for line in text.split("\n") if not line.startswith("+")),
    "indented by a tab": lambda text: "\n".join("\t" + line for line in text.split("\n")),
    "one blank": lambda text: re.sub(r" +", " ", text),
    "tabs": lambda text: re.sub(r" {2,}", "\t", text),
    "no blanks at bars": lambda text: re.sub(r" *\| *", "|", text),
    "glued pairs": lambda text: re.sub(r"(\d+)\s*/\s*(\d+)", r"\1/\2", text),
    "unit apart": lambda text: re.sub(r"\((W|C|%|MB|page)\)", r" (\1)", text),
    "drawn with lines": lambda text: text.replace("|", "│").replace("-+", "─┼").replace("+", "┼"),
    "broken at 80 columns": lambda text: re.sub(r"(.{80})(?=.)", r"\1\n", text),
}


@pytest.mark.parametrize("way", RETYPINGS)
@pytest.mark.parametrize("text", TABLES)
def test_a_retyped_table_says_the_same(text: str, way: str) -> None:
    assert parse("npu_smi_info", RETYPINGS[way](text)) == parse("npu_smi_info", text)


@pytest.mark.parametrize("text", [text for text in TABLES if "Version: x.x.x" not in text])
def test_a_table_that_lost_its_bars_still_gives_its_devices_and_processes(text: str) -> None:
    def known(table: str) -> list[tuple[object, ...]]:
        devices: Any = parse("npu_smi_info", table).get("devices", [])
        return [tuple(device[key] for key in ("npu", "chip", "bus_id", "power_w", "hbm_used_mb")) for device in devices]

    assert known(text.replace("|", " ")) == known(text)
    assert parse("npu_smi_info", text.replace("|", " "))["processes"] == parse("npu_smi_info", text)["processes"]
