"""Fit: asked from the address or by hand, answered in words, as a bar and as a table."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.jobs.logs import attempt_log
from console.records import writing
from console.serving import instances
from console.serving.fit import GIB, fit
from console.serving.lessons import lessons
from console.serving.room import Wish
from console.serving.spec import kv_bytes_per_token
from console.surface.fit_answer_view import bar
from db import models
from tests.hosts.said import remote
from tests.pages.page import calm, in_language, links, opened, said
from tests.serving.fitting import SMALL, model
from tests.serving.subjects import SMOL
from tests.serving.test_lessons import LARGE, LARGE_SPEC, started


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("fit", lang=lang), lang)


def figures(page: AppTest) -> list[str]:
    return [one.value for one in page.metric]


def test_the_first_question_fits_and_says_so(host: Host) -> None:
    page = opened("fit")
    assert [one.value for one in page.success if "It fits" in one.value]
    assert not page.error
    assert figures(page)[2] == "2 × 1 × 1"


def test_an_address_is_a_question(host: Host) -> None:
    page = opened("fit", model="Qwen/Qwen3-32B", chip="910B4", cards=2, quantization="w8a8", context=32768, users=8)
    assert "It does not fit" in page.error[0].value
    assert figures(page)[1] == "1"
    page = opened("fit", model="Qwen/Qwen3-32B", chip="910B4", quantization="fp8")
    assert "W8A8" in page.error[0].value
    assert figures(page)[:2] == ["–", "–"]
    assert "Start with" not in said(page), "nobody is told to start what does not fit"


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
    names = {key: f"<{key}>" for key in ("weights", "kv", "reserve", "free", "usable", "other")}
    drawn = bar(answer, names)
    assert "&lt;weights&gt; 16.0 GiB" in drawn
    assert "&lt;free&gt; 25.2 GiB" in drawn, "what is missing"
    assert "other" not in drawn
    assert "<weights>" not in drawn
    whole = answer.room.weights + answer.room.kv + answer.room.reserve
    assert f"left:{100 * answer.room.usable / whole:.2f}%" in drawn


def test_cards_that_a_host_showed_come_first_with_what_is_free_of_them(host: Host) -> None:
    remote("gpu1")
    page = opened("fit")
    cards = page.selectbox[1]
    assert "gpu1" in cards.value
    assert "910B" in cards.value
    assert "driver" not in said(page), "nothing is assumed of a card that was seen"
    assert "npu-smi" in said(page)
    assert "measured here" in sources(page)
    assert "config.json 的闭式计算" in sources(opened("fit", lang="zh"))
    assert "Other cards" in opened("fit", chip="910B4").selectbox[1].value, "an address names its own"


def test_what_a_simulated_card_shows_is_not_called_measured(host: Host) -> None:
    seen = remote("gpu1")
    with writing() as session:
        session.get_one(models.Host, seen.id).scenario = "two-healthy-910b4"
    shown = sources(opened("fit"))
    assert "simulated" in shown
    assert "measured here" not in shown


def sources(page: AppTest) -> str:
    """The table with how each figure is known."""
    return next(one.proto.body for one in page.get("html") if "<table" in one.proto.body)


def test_what_an_instance_counted_stands_beside_the_sum(seeded: Host) -> None:
    one = next(one for one in instances.instances() if instances.attempts(one.id))
    assert "cache by the sum" not in said(opened("fit"))
    log = attempt_log(one.id, instances.attempts(one.id)[0].number)
    log.take(b"INFO CPU KV cache size: 23,296 tokens\n", ended=True)
    (lesson,) = lessons({one.spec.model_folder: SMOL})
    assert lesson.difference is not None
    assert lesson.difference.measured == 23296
    assert lesson.difference.estimated == one.spec.kv_space_gib * GIB / kv_bytes_per_token(one.spec, SMOL)
    page = opened("fit")
    assert "cache by the sum" in said(page)
    assert "23,296" in said(page)


def test_the_other_figures_of_a_server_on_npus_stand_beside_theirs(data: Path) -> None:
    started(inventory.add_host("npu-1", Reach("192.0.2.7"), actor="ann"), LARGE_SPEC, "qwen3_235b_w8a8_tp4.txt", LARGE)
    (lesson,) = lessons({})
    (apart,) = lesson.others
    for lang, name in (("en", "cache (KV)"), ("zh", "缓存（KV）")):
        shown = next(one.proto.body for one in opened("fit", lang=lang).get("html") if "8.11" in one.proto.body)
        assert name in shown
        assert f"{apart.estimated / GIB:.2f}" in shown
        assert f"{100 * apart.error:+.1f} %" in shown


def test_an_instance_whose_model_cannot_be_read_has_a_measure_and_no_error(seeded: Host) -> None:
    one = next(one for one in instances.instances() if instances.attempts(one.id))
    attempt_log(one.id, instances.attempts(one.id)[0].number).take(b"CPU KV cache size: 5 tokens\n", ended=True)
    (lesson,) = lessons({})
    assert lesson.difference is None
    assert lesson.seen.kv_tokens == 5


def test_an_answer_that_fits_leads_to_the_form_that_is_filled_with_it(host: Host) -> None:
    address = links(opened("fit", model="Qwen/Qwen3-32B", chip="910B3", cards=2, quantization="w8a8", users=8))
    for each in (
        "model=vllm-ascend%2FQwen3-32B-W8A8",
        "quantization=ascend",
        "utilization=0.9",
        "users=8",
        "context=8192",
        "tensor-parallel=2",
        "expert-parallel=false",
    ):
        assert each in address["Launch this"]
    assert "Launch this" not in links(opened("fit", model="Qwen/Qwen3-32B", chip="910B4", quantization="fp8"))


def test_cards_of_a_host_lead_to_the_form_of_that_host(host: Host) -> None:
    seen = remote("gpu1")
    assert f"host={seen.id}" in links(opened("fit", model="Qwen/Qwen3-8B"))["Launch this"]


def test_a_model_of_the_models_page_can_be_asked_about(seeded: Host) -> None:
    leads = [one for one in opened("models").get("page_link") if one.proto.page == "fit"]
    assert any("model=" in one.proto.query_string and f"host={seeded.id}" in one.proto.query_string for one in leads)
