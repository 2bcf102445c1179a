"""Checklist: every judgement with what was seen."""

from console.checks import Level
from console.hosts import observe
from console.hosts.inventory import Host
from console.jobs import history
from tests.pages.page import in_language, links, opened, press, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("checklist", lang=lang), lang)


def test_before_anything_was_checked_it_says_what_to_do(host: Host) -> None:
    assert "This machine has not been checked yet. “Check now” asks it" in said(opened("checklist"))


def test_checking_queues_one_job(host: Host) -> None:
    page = press(opened("checklist"), "check-now")
    press(page, "check-now")
    assert [(one.kind, one.state) for one in history.jobs()] == [("check", "queued")]
    assert links(page)["The check runs"] == f"job?job={history.jobs()[0].id}"


def test_every_check_stands_there_and_passes_can_be_hidden(seeded: Host) -> None:
    checked = observe.judged(seeded)
    assert checked is not None
    page = opened("checklist")
    assert len(page.expander) == len(checked.judged)
    page.toggle(key="only-bad").set_value(True).run()
    assert len(page.expander) == sum(one.verdict.level != Level.PASS for one in checked.judged)


def test_an_odd_filter_in_the_address_is_none(seeded: Host) -> None:
    assert len(opened("checklist", only_bad="maybe").expander) == len(opened("checklist").expander)
