"""Checklist: every judgement with what was seen."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from console.checks import Judged
from console.checks.report import by_area
from console.hosts import inventory, observe, own_profiles, waivers, waiving
from console.hosts.inventory import Host
from console.hosts.observe import Checked
from console.jobs import history, jobs, path
from console.jobs.states import JobState
from console.text import say
from tests.hosts.said import remote, say_again, say_only
from tests.pages import seed
from tests.pages.page import calm, in_language, keys, links, opened, press, said

BAD = {"libc": "glibc 2.20\n"}


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("checklist", lang=lang), lang)


def test_before_anything_was_checked_it_says_what_to_do(host: Host) -> None:
    assert "This machine has not been checked yet. “Check now” asks it" in said(opened("checklist"))


@pytest.mark.parametrize("asked", ["7", "-1", "eins", "1 OR 1=1"])
def test_a_host_that_is_not_there_is_said(host: Host, asked: str) -> None:
    assert f"“{asked}”; there is none" in said(opened("checklist", host=asked)).replace("\\", "")
    assert "there is none" not in said(opened("checklist", host=host.id))


def test_checking_queues_one_job(host: Host) -> None:
    page = press(opened("checklist"), "check-now")
    press(page, "check-now")
    assert [(one.kind, one.state) for one in history.jobs()] == [("check", "queued")]
    assert links(page)["The check runs"] == f"job?job={history.jobs()[0].id}"


def test_every_check_stands_there_and_passes_can_be_hidden(seeded: Host) -> None:
    checked = observe.judged(seeded)
    assert checked is not None
    page = opened("checklist")
    assert lines(page) == [one.name for one in in_areas(checked)]
    page.toggle(key="only-bad").set_value(True).run()
    assert lines(page) == [one.name for one in in_areas(checked) if not one.passed]


def test_an_odd_filter_in_the_address_is_none(seeded: Host) -> None:
    assert lines(opened("checklist", only_bad="maybe")) == lines(opened("checklist"))


def lines(page: AppTest) -> list[str]:
    """Names of the checks whose lines stand on the page."""
    return [name.removeprefix("again-") for name in (one.key for one in page.button) if name.startswith("again-")]


def in_areas(checked: Checked) -> list[Judged]:
    return [one for _, judged in by_area(checked.judged) for one in judged]


@pytest.fixture
def pair(data: Path) -> tuple[Host, Host]:
    """A good host and a bad one, both asked."""
    inventory.this_machine()
    return remote("good", "rack-1"), remote("bad_one", "rack-2", **BAD)


def fail_of(page: AppTest, name: str) -> str:
    found = [one.label for one in page.expander if f"**{name}**" in one.label]
    assert len(found) == 1
    return found[0]


def test_checks_stand_under_their_area(pair: tuple[Host, Host]) -> None:
    headings = [one.value for one in opened("checklist", host=pair[0].id).markdown if one.value.startswith("**")]
    assert headings[:3] == ["**Operating system**", "**Processor**", "**Memory**"]


def test_evidence_comes_when_asked_for_and_says_when_it_was_cut(data: Path) -> None:
    long = "x" * 5000
    gpu = remote("gpu1", governors="begin\n    128 performance\n" + long)
    page = opened("checklist", host=gpu.id)
    assert long[:100] not in said(page)
    page.toggle(key="evidence-cpu_governor").set_value(True).run()
    assert "these are the first 4000" in said(page)
    assert long not in said(page)
    page.toggle(key="whole-cpu_governor-governors").set_value(True).run()
    assert long in said(page)


def test_one_check_is_asked_again_and_tells_its_age(pair: tuple[Host, Host]) -> None:
    bad = pair[1]
    page = press(opened("checklist", host=bad.id), "again-c_library")
    assert [(one.kind, one.host_id) for one in history.jobs()] == [("recheck", bad.id)]
    jobs.cancel(history.jobs()[0].id, actor="ann")
    say_only(bad, "cards_free", npu_holders="all yes\n")
    page = opened("checklist", host=bad.id)
    assert "<dt>Asked again</dt>" in said(page)
    page.toggle(key="evidence-cards_free").set_value(True).run()
    shown = said(page)
    assert "evidence: npu_holders\n" in shown
    assert "evidence: npu_tool, asked" in shown


def test_what_changed_is_a_short_section(pair: tuple[Host, Host]) -> None:
    good, _ = pair
    assert "hanged since" not in said(opened("checklist", host=good.id))
    say_again(good)
    assert "Nothing has changed since the check before" in said(opened("checklist", host=good.id))
    say_again(good, **BAD)
    page = opened("checklist", host=good.id)
    assert "Changed since the check before" in page.expander(key="changes").label
    assert '<td class="text">● pass · glibc 2.38</td>' in said(page)


def test_a_check_is_waived_named_and_counts_again(pair: tuple[Host, Host]) -> None:
    _, bad = pair
    page = opened("checklist", host=bad.id)
    page.text_input(key="reason-c_library").set_value("a *container* brings its own")
    page.text_input(key="name-c_library").set_value("Ann Lee")
    page = press(page, "waive-now-c_library")
    label = fail_of(page, "C library")
    assert "waived by Ann Lee on" in label
    assert "a \\*container\\* brings" in label
    assert ":gray[◇ waived] 1" in " ".join(one.value for one in page.markdown)
    page = press(page, "end-waiver-c_library")
    assert "waived" not in fail_of(page, "C library")


def test_a_waiver_without_a_reason_is_refused_on_the_page(pair: tuple[Host, Host]) -> None:
    page = press(opened("checklist", host=pair[1].id), "waive-now-c_library")
    assert "needs a reason" in " ".join(one.value for one in page.error)
    assert waivers.held(pair[1].id) == {}


def test_a_host_that_could_not_be_asked_says_why(pair: tuple[Host, Host]) -> None:
    job = path.start("check", pair[0].id, actor="ann")
    seed.end(job, JobState.FAILED, failing=1, why=say("It was silent."))
    assert "It was silent" in " ".join(one.value for one in opened("checklist", host=pair[0].id).error)


def test_the_report_can_be_taken_along(pair: tuple[Host, Host], lang: str) -> None:
    page = opened("checklist", host=pair[1].id, lang=lang)
    assert [one.label for one in page.download_button] == ["HTML", "Markdown", "JSON"]


def test_two_hosts_side_by_side(pair: tuple[Host, Host], lang: str) -> None:
    good, bad = pair
    page = opened("checklist", host=good.id, compare=bad.id, lang=lang)
    in_language(page, lang)
    shown = said(page)
    assert shown.count("<tr>") == 2 + 2, "one check and one fact, each below its heads"
    assert "glibc 2.20" in shown
    page.toggle(key="all-of-both").set_value(True).run()
    assert said(page).count("<tr>") > 50
    printed = page.selectbox(key="raw-of-both")
    printed.select_index(printed.options.index({"en": "C library", "zh": "C 库"}[lang])).run()
    assert {"glibc 2.38", "glibc 2.20"} <= {one.value for one in page.code}


def test_a_comparison_with_a_host_nobody_asked_says_so(pair: tuple[Host, Host]) -> None:
    here = inventory.this_machine()
    assert "has not been checked yet. Check it first" in said(opened("checklist", host=here.id, compare=pair[0].id))
    assert "has not been checked yet" in said(opened("checklist", compare="nonsense"))


def test_many_hosts_in_one_table(pair: tuple[Host, Host], lang: str) -> None:
    page = opened("checklist", hosts="all", lang=lang)
    in_language(page, lang)
    assert said(page).count("<tr>") == 1 + 1, "only what did not pass somewhere"
    assert {f"checklist?host={one.id}" for one in pair} <= set(links(page).values())
    page.toggle(key="all-checks").set_value(True).run()
    assert said(page).count("<tr>") > 40
    page = opened("checklist", hosts="rack-1", lang=lang)
    assert links(page).keys() & {"good", "bad_one"} == {"good"}


def test_the_table_follows_what_becomes_known(pair: tuple[Host, Host]) -> None:
    page = opened("checklist", hosts="all")
    assert said(page).count("■ fail<") == 1
    say_again(pair[0], **BAD)
    assert said(calm(page.run())).count("■ fail<") == 2
    waiving.waive(pair[0], "c_library", reason="known", name="ann", actor="ann")
    assert said(calm(page.run())).count("◇ waived<") == 1
    waiving.end(pair[0], "c_library", actor="ann")
    assert said(calm(page.run())).count("■ fail<") == 2


def test_many_hosts_are_checked_at_once(pair: tuple[Host, Host]) -> None:
    page = press(opened("checklist", hosts="rack-2"), "check-many")
    assert [(one.kind, one.host_id) for one in history.jobs()] == [("check", pair[1].id)]
    assert "1 of 1 are being checked" in said(page)


def test_the_view_stands_in_the_address(pair: tuple[Host, Host]) -> None:
    page = opened("checklist", host=pair[0].id)
    calm(page.segmented_control(key="checklist-view").set_value("hosts").run())
    assert page.query_params["hosts"] == "all"


def test_a_profile_is_copied_edited_used_and_deleted(pair: tuple[Host, Host]) -> None:
    page = press(opened("checklist", host=pair[0].id), "copy-ascend-two-cards")
    page.text_input(key="copy-name").set_value("机房 A")
    page = press(page, "copy-now")
    page = press(page, "edit-机房-a")
    page.number_input(key="edit-npus").set_value(9)
    page.text_input(key="edit-cann").set_value("newest")
    page = press(page, "edit-now")
    assert "a version such as 25.5.1" in " ".join(one.value for one in page.error)
    assert own_profiles.find("机房-a").limits["npus"].value == 2, "nothing of it was taken"
    page = press(page, "edit-机房-a")
    page.number_input(key="edit-npus").set_value(9)
    page = press(page, "edit-now")
    assert own_profiles.find("机房-a").limits["npus"].value == 9
    page = opened("checklist", host=pair[0].id, profile="机房-a")
    assert "fail" in fail_of(page, "Cards are free")
    page = press(page, "delete-机房-a")
    press(page, "really-delete")
    assert "机房-a" not in own_profiles.profiles()


def test_built_in_profiles_can_be_looked_at_and_copied_only(host: Host) -> None:
    page = opened("checklist")
    assert {"copy-ascend-two-cards", "show-ascend-two-cards"} <= keys(page)
    assert not {"edit-ascend-two-cards", "delete-ascend-two-cards"} & keys(page)
    assert "the reference host of the pilot" in said(press(page, "show-ascend-reference"))
