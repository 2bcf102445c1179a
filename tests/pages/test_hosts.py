"""Hosts: what the machine said of itself."""

import pytest

from console.hosts import observe
from console.hosts.inventory import Host
from console.jobs import history
from tests.hosts.said import remote
from tests.pages.page import in_language, links, opened, press, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("hosts", lang=lang), lang)


def test_before_it_was_asked_it_says_what_to_do(host: Host) -> None:
    page = opened("hosts")
    assert [one.value for one in page.info] == [
        "Nothing is known of this host yet. “Look again” asks it; it takes about a second."
    ]
    assert host.work_folder in said(page)


def test_looking_again_queues_one_check(host: Host) -> None:
    page = press(opened("hosts"), f"probe-{host.id}")
    press(page, f"probe-{host.id}")
    assert [(one.kind, one.state) for one in history.jobs()] == [("check", "queued")]
    assert links(page)["A job is at work on it"] == f"job?job={history.jobs()[0].id}"


def test_what_the_machine_printed_can_be_read(seeded: Host) -> None:
    page = opened("hosts")
    seen = observe.latest(seeded)
    assert seen is not None
    page.selectbox(key=f"raw-{seen.probe_id}").set_value("kernel").run()
    assert seen.raws["kernel"].text.strip() in said(page)
    assert "exit code 0" in said(page)


def test_after_it_was_asked_its_result_stands_there_and_leads_to_the_checklist(seeded: Host) -> None:
    page = opened("hosts")
    checked = observe.judged(seeded)
    assert checked is not None
    assert f"pass] {sum(one.passed for one in checked.judged)}" in said(page)
    assert links(page)["Open the Checklist"].startswith(f"checklist?host={seeded.id}")
    assert links(opened("checklist"))["Go on to Install"] == f"install?host={seeded.id}"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_installed_versions_in_conflict_are_told_on_the_host_with_the_next_package(host: Host, lang: str) -> None:
    remote("good")
    remote("old", packages="vllm==0.23.0\nvllm-ascend==0.23.0\ntorch==2.11.0\ntorch-npu==2.10.0.post4\n")
    page = opened("hosts", lang=lang)
    in_language(page, lang)
    shown = [one.value.replace("\\", "") for one in page.markdown]
    assert [one.count("torch 2.10.0") for one in shown if "vllm-ascend 0.23.0" in one] == [1]
    assert sum("torch-2.10.0-cp3" in one for one in shown) == 1
