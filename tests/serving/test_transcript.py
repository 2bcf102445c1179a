"""Conversations as Markdown and JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.serving.transcript import exported, file_name, markdown


@dataclass(frozen=True)
class Said:
    role: str
    text: str
    reasoning: str = ""
    figures: Mapping[str, object] = field(default_factory=dict)
    created: float = 1_796_000_000.0


CODE = "Here:\n\n```python\ndef f():\n    return '模型'\n```\n\nDone."
TALK = [Said("user", "写一个函数"), Said("assistant", CODE, "First think.\n\nThen write.", {"sent": 1.5})]


def test_markdown_has_a_section_for_each_turn_and_keeps_code() -> None:
    made = markdown("写\n函数", "smol", TALK, 1_796_000_000.0)
    assert made.startswith("# 写 函数\n\nModel smol, 2026-11-30T")
    assert (
        f"## Question\n\n写一个函数\n\n## Answer\n\n> Thoughts:\n>\n> First think.\n>\n> Then write.\n\n{CODE}\n"
        in made
    )


@pytest.mark.parametrize(
    ("cut", "closing"),
    [
        ("```python\nx = 1", "```"),
        ("~~~~\nx\n~~~", "~~~~"),
        ("a\n````md\n```\ninner\n```", "````"),
        ("```\nx\n```", ""),
        ("use ```code``` in a line", ""),
        ("``` a`b", ""),
        ("    ```\nindented code", ""),
    ],
)
def test_a_code_block_that_was_cut_short_is_closed(cut: str, closing: str) -> None:
    made = markdown("t", "m", [Said("assistant", cut), Said("user", "next")], 0)
    wanted = f"{cut}\n{closing}" if closing else cut
    assert f"## Answer\n\n{wanted}\n\n## Question\n\nnext\n" in made


def test_an_unknown_role_is_shown_as_it_is() -> None:
    assert "## tool\n\nx\n" in markdown("t", "m", [Said("tool", "x")], 0)


def test_the_export_is_json_with_everything_in_it() -> None:
    text = exported("写函数", "smol", TALK, 0, {"temperature": 0.5})
    assert "写一个函数" in text, "Chinese stays readable"
    made = json.loads(text)
    assert list(made) == ["format", "version", "title", "model", "created", "sampling", "messages"]
    assert (made["format"], made["version"]) == ("ascend-pilot-conversation", 1)
    assert made["created"] == "1970-01-01T00:00:00+00:00"
    assert made["messages"][1]["content"] == CODE
    assert made["messages"][1]["figures"] == {"sent": 1.5}
    assert list(made["messages"][0]) == ["role", "content", "reasoning", "created", "figures"]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("What is vLLM?", "What-is-vLLM.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        ("昇腾 910B 部署", "昇腾-910B-部署.md"),
        ("con", "conversation-con.md"),
        ("???", "conversation.md"),
        ("", "conversation.md"),
        ("a\x00b\nc-d", "a-b-c-d.md"),
    ],
)
def test_file_names(title: str, name: str) -> None:
    assert file_name(title, "md") == name


@given(st.text())
def test_any_title_gives_a_name_that_every_system_takes(title: str) -> None:
    name = file_name(title, "json")
    stem = name.removesuffix(".json")
    assert stem
    assert not set(stem) & set('/\\:*?"<>| \n\t\x00')
    assert not stem.startswith((".", "-"))
    assert len(name.encode()) <= 120
