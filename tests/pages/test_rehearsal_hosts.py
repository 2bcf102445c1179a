"""Rehearsal hosts on the Hosts page: offered with what they play, marked everywhere, started and stopped."""

import pytest

from console.catalog.scenarios import scenarios
from console.errors import HostError
from console.hosts import inventory, rehearsal_life, rehearsal_needs
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.hosts.rehearsal_life import State
from tests.pages.page import in_language, opened, press, said


@pytest.fixture
def pretended(host: Host) -> Host:
    """In the inventory only: nothing runs."""
    return inventory.add_host("practice", Reach("127.0.0.1", 22200), scenario="too-hot", actor="test")


def test_every_scenario_is_offered_with_what_it_is_about(host: Host, lang: str) -> None:
    page = opened("hosts", lang=lang)
    choice = page.selectbox(key="scenario")
    assert choice.options == [one.title_in(lang) for one in scenarios()]
    page = choice.set_value("too-hot").run()
    assert next(one for one in scenarios() if one.id == "too-hot").about_in(lang) in said(page)
    in_language(page, lang)


@pytest.mark.parametrize("where", ["hosts", "checklist"])
def test_its_name_bears_the_mark(pretended: Host, where: str, lang: str) -> None:
    page = opened(where, lang=lang)
    shown = said(page) + " ".join(option for one in page.selectbox for option in one.options)
    assert {"en": "practice (simulated)", "zh": "practice（模拟）"}[lang] in shown


def test_it_says_what_it_plays_and_how_it_is(pretended: Host) -> None:
    assert "One card too hot · it is down, and will be started when it is wanted" in said(opened("hosts"))


def test_it_is_made_once_stopped_and_started(host: Host) -> None:
    try:
        rehearsal_needs.try_namespaces(rehearsal_needs.programs()["unshare"])
    except HostError as error:
        pytest.skip(str(error))
    try:
        page = press(opened("hosts"), "rehearse")
        page = press(page, "rehearse")
        (made,) = (one for one in inventory.hosts() if one.scenario is not None)
        assert "it is up" in said(page)
        page = press(page, f"rest-{made.id}")
        assert "it is stopped" in said(page)
        press(page, f"wake-{made.id}")
        assert rehearsal_life.state(made.id) == State.UP
    finally:
        for one in inventory.hosts():
            if one.scenario is not None:
                inventory.remove_host(one.id, actor="test")


def test_what_this_machine_lacks_is_said(host: Host, tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    page = press(opened("hosts"), "rehearse")
    assert "a rehearsal host cannot live without it" in " ".join(one.value for one in page.error)
