"""The cards of all hosts on the Hosts page."""

import pytest
from streamlit.testing.v1 import AppTest

from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.jobs import history
from console.surface.calm_table import Cell, Head, Notes, html
from tests.checks.composed import HELD, HOST, sample
from tests.hosts.test_cards import keep
from tests.pages import seed
from tests.pages.page import calm, in_language, keys, opened, press, said


@pytest.fixture
def fleet(data: object) -> list[Host]:
    """Two cards of which one is held, an A3, and a host that was never asked."""
    inventory.this_machine()
    first = inventory.add_host("npu-1", Reach("10.0.0.5"), tags=["rack-1"], actor="me")
    second = inventory.add_host("a3", Reach("10.0.0.6"), actor="me")
    inventory.add_host("new", Reach("10.0.0.7"), actor="me")
    hot = HELD.replace("| OK            | 87.0        31 ", "| Alarm         | 87.0        96 ")
    keep(first, {**HOST, "npu_tool": hot, "npu_holders": "all yes\n"})
    a3 = {"npu_tool": sample("npu_smi_info_a3_25.3.rc1_busy_hot"), "npu_pci": "", "npu_holders": "all no\n"}
    keep(second, {**HOST, **a3})
    return inventory.hosts()


def table(page: AppTest) -> str:
    return next(one.proto.body for one in page.get("html") if "<table>" in one.proto.body)


def rows(page: AppTest) -> int:
    return table(page).count("<tr>") - 1


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("hosts", lang=lang, view="cards"), lang)


def test_before_any_host_was_asked_it_says_what_to_do(host: Host) -> None:
    page = opened("hosts", view="cards")
    assert "No host was asked for its cards yet." in said(page)
    press(page, "ask-again")
    assert [(one.kind, one.host_id) for one in history.jobs()] == [("check", host.id)]


def test_one_row_a_card_with_units_and_reasons(fleet: list[Host]) -> None:
    page = opened("hosts", view="cards")
    shown = table(page)
    assert rows(page) == 4
    for words in (
        "910B4",
        "26.2 / 32.0 GiB",
        "88.2 W",
        "96 °C",
        "0000:C1:00.0",
        "25.5.1",
        "mindie_llm_back (PID 1406630)",
    ):
        assert words in shown
    assert '<td class="bad">■ Alarm</td>' in shown
    assert "a3: npu-smi gives the power of the whole NPU" in shown
    assert "new" in said(page)
    assert "4 of 4 cards: 1 free, 2 held, 1 not known" in said(page).replace("\\", "")


def test_filters(fleet: list[Host]) -> None:
    for key, value, count in (
        ("card-host", "npu-1", 2), ("card-chip", "Ascend910", 2), ("card-health", "Alarm", 1), ("card-use", "free", 1),
    ):  # fmt: skip
        page = opened("hosts", view="cards")
        page.selectbox(key=key).set_value(value).run()
        assert rows(page) == count, key
    assert rows(opened("hosts", view="cards", tag="rack-1")) == 2


def progress(page: AppTest) -> str:
    return " ".join(one.proto.text for one in page.get("progress"))


def test_only_the_hosts_shown_are_asked_again_and_how_far_they_are_is_told(fleet: list[Host]) -> None:
    page = opened("hosts", view="cards")
    page.selectbox(key="card-host").set_value("a3").run()
    press(page, "ask-again")
    (job,) = history.jobs()
    assert (job.kind, job.host_id) == ("check", fleet[2].id)
    assert progress(page) == "0 of 1 hosts have been asked"
    seed.end(job.id)
    assert progress(calm(page.run())) == ""


def test_a_host_that_did_not_answer_is_told(fleet: list[Host]) -> None:
    page = press(opened("hosts", view="cards"), "ask-again")
    assert progress(page) == "0 of 4 hosts have been asked"
    first, *others = history.jobs()
    seed.end(first.id, seed.JobState.FAILED, failing=1, why=seed.verbatim("it is *away*"))
    page = calm(page.run())
    assert progress(page) == "1 of 4 hosts have been asked"
    for other in others:
        seed.end(other.id)
    page = calm(page.run())
    assert "it is \\*away\\*" in " ".join(one.value for one in page.error)


def test_the_list_can_be_saved(fleet: list[Host]) -> None:
    assert len(opened("hosts", view="cards").get("download_button")) == 1


def test_both_views_in_both_languages(fleet: list[Host], lang: str) -> None:
    in_language(opened("hosts", lang=lang, view="cards"), lang)
    assert "add-host" not in keys(opened("hosts", lang=lang, view="cards"))


def test_what_hosts_say_is_no_html() -> None:
    notes = Notes()
    why = notes.missing("<b> & c")
    heads = [Head("<a>"), Head("b", True)]
    shown = html(heads, [[Cell("<script>"), why], [Cell("x", whole="<i>"), notes.missing("<b> & c")]], notes)
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "<i>" not in shown
    assert shown.count("<sup>1</sup>") == 2
    assert shown.count("<li>") == 1
