"""Fit: asked from the address or by hand, answered in words, as a bar and as a table."""

import pytest
from streamlit.testing.v1 import AppTest

from console.hosts.inventory import Host
from console.serving.fit import fit
from console.serving.room import Wish
from console.surface.fit_answer_view import bar
from tests.pages.page import calm, in_language, links, opened, said
from tests.serving.fitting import SMALL, model


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("fit", lang=lang), lang)


def figures(page: AppTest) -> list[str]:
    return [one.value for one in page.metric]


def test_the_first_question_fits_and_says_so(host: Host) -> None:
    page = opened("fit")
    assert [one.value for one in page.success if "It fits" in one.value]
    assert not page.error
    assert figures(page)[2] == "2 x 1 x 1"


def test_an_address_is_a_question(host: Host) -> None:
    page = opened("fit", model="Qwen/Qwen3-32B", chip="910B4", cards=2, quantization="w8a8", context=32768, users=8)
    assert "It does not fit" in page.error[0].value
    assert figures(page)[1] == "1"
    page = opened("fit", model="Qwen/Qwen3-32B", chip="910B4", quantization="fp8")
    assert "W8A8" in page.error[0].value
    assert figures(page)[:2] == ["0", "0"]


@pytest.mark.parametrize(
    "address",
    [
        {"model": "<script>alert(1)</script>"},
        {"model": "/etc/passwd"},
        {"chip": "H100", "cards": "-1"},
        {"chip": "910B", "cards": "99999999999"},
        {"quantization": "int3", "context": "1e9", "users": "0"},
        {"context": "99999999999", "users": "99999999999"},
    ],
)
def test_an_edited_address_does_no_harm(host: Host, address: dict[str, str]) -> None:
    page = opened("fit", **address)
    assert figures(page)


def test_the_table_is_computed_when_it_is_asked_for(host: Host) -> None:
    page = opened("fit", model="Qwen/Qwen3-32B", chip="910B4", quantization="w8a8")
    assert "Columns are contexts" not in said(page)
    page = calm(page.toggle(key="fit-table").set_value(True).run())
    assert "Columns are contexts" in said(page)
    assert "awq" not in said(page)
    assert "only on A5" in said(page), "why fp8 is refused"


def test_recipes_lead_to_their_question(host: Host) -> None:
    page = opened("fit", chip="910B3")
    assert "model=" in links(page)["Take these"]
    assert "32B for many users" in said(page)
    assert "A pilot that convinces" not in said(page), "that one is for 32 GB"


def test_a_folder_of_this_machine_can_be_asked_about(seeded: Host) -> None:
    page = opened("fit")
    options = page.selectbox[0].options
    assert any("DeepSeek-R1-Distill-Qwen-14B" in one for one in options)
    assert len(options) > 23


def test_what_is_missing_stands_beyond_the_mark_and_words_are_escaped() -> None:
    answer = fit(model("Qwen3-32B"), SMALL, Wish(2, "w8a8", context=32768, concurrency=8))
    drawn = bar(answer, {"weights": "<b>", "kv": "cache", "reserve": "reserve", "free": "missing"}, "other")
    assert "&lt;b&gt;" in drawn
    assert "other" not in drawn
    whole = answer.room.weights + answer.room.kv + answer.room.reserve
    assert f"left:{100 * answer.room.usable / whole:.2f}%" in drawn
