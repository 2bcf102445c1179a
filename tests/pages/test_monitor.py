"""Monitor: which server, its charts, its measurements."""

import pytest

from console.hosts.inventory import Host
from console.serving import instances
from tests.pages.page import in_language, links, opened, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("monitor", lang=lang), lang)


def test_before_a_server_ran_it_says_what_to_do_first(host: Host) -> None:
    page = opened("monitor")
    assert "No server has run yet" in said(page)
    assert "Launch" in links(page)


def test_the_address_chooses_the_server_and_the_minutes(seeded: Host) -> None:
    one = instances.named("smollm2")
    page = opened("monitor", instance=one.id, minutes=15)
    assert page.selectbox(key="monitor-instance").value == one.id
    assert page.session_state["minutes"] == 15
    rows = page.dataframe[0].value
    assert list(rows["at a time"]) == [4, 1]
    assert list(rows["TTFT p50 (ms)"]) == [300, 300]
    assert list(rows["tokens/s"]) == [20.0, 20.0]


def test_one_that_was_not_measured_says_so(seeded: Host) -> None:
    assert "Not measured yet." in said(opened("monitor", instance=instances.named("rest").id))


def test_one_that_never_ran_is_not_offered(seeded: Host) -> None:
    page = opened("monitor")
    assert page.selectbox(key="monitor-instance").value == instances.named("smollm2").id, "noise comes last"
    assert "new" not in page.selectbox(key="monitor-instance").options


@pytest.mark.parametrize(("instance", "minutes"), [("-1", "7"), ("abc", "five"), ("999999", "-5"), ("²", "1e9")])
def test_a_strange_address_shows_a_server_there_is(seeded: Host, instance: str, minutes: str) -> None:
    page = opened("monitor", instance=instance, minutes=minutes)
    assert page.session_state["minutes"] == 5
    assert page.selectbox(key="monitor-instance").value in [one.id for one in instances.instances()]


@pytest.mark.parametrize("instance", ["abc", "999999"])
def test_a_strange_address_of_an_empty_console_is_no_failure(host: Host, instance: str) -> None:
    assert "No server has run yet" in said(opened("monitor", instance=instance, minutes=7))
