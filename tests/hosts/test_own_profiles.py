"""Profiles of one's own: copied, edited, used, removed; the built-in ones stay as they are."""

import json

import pytest

from console.catalog.profiles import PROFILES
from console.errors import Conflict, InvalidInput, NotFound
from console.hosts import observe, own_profiles
from console.hosts.inventory import Host
from console.jobs import history
from console.records import writing
from db import models
from tests.hosts.said import remote
from tests.jobs.conftest import data, host

__all__ = ["data", "host"]
USUAL = "ascend-two-cards"


def test_a_copy_judges_by_its_own_values(data: object) -> None:
    gpu = remote("gpu1")
    mine = own_profiles.copy(USUAL, "机房A", actor="ann")
    assert (mine.id, mine.title_in("zh"), mine.based_on) == ("机房a", "机房A", USUAL)
    assert observe.profiles_of(gpu) == [USUAL, "ascend-reference", "ascend-multi-node", "机房a", "this-machine-cpu"]
    own_profiles.change(mine.id, actor="ann", limits={"npus": 4}, checks=["cards_free", "architecture"])
    checked = observe.judged(gpu, "机房a")
    assert checked is not None
    assert {one.name: one.standing for one in checked.judged} == {"architecture": "pass", "cards_free": "fail"}
    assert checked.profile.limits["npus"].value == 4


def test_a_copy_of_the_cpu_profile_is_for_this_machine(host: Host) -> None:
    mine = own_profiles.copy("this-machine-cpu", "laptop", actor="ann")
    assert observe.profiles_of(host) == ["this-machine-cpu", mine.id]
    assert {fact.name for fact in observe.facts_of(host, mine.id)} == {fact.name for fact in observe.facts_of(host)}


def test_a_copy_of_a_copy_comes_from_the_built_in_one(data: object) -> None:
    first = own_profiles.copy(USUAL, "one", actor="ann")
    own_profiles.change(first.id, actor="ann", limits={"cores": 8})
    second = own_profiles.copy(first.id, "two", actor="ann")
    assert (second.based_on, second.limits["cores"].value) == (USUAL, 8)
    own_profiles.remove(first.id, actor="ann")
    assert own_profiles.find("two") == second


def test_built_in_profiles_are_neither_edited_nor_removed(data: object) -> None:
    for call in (own_profiles.remove, own_profiles.change):
        with pytest.raises(InvalidInput, match="built-in"):
            call(USUAL, actor="ann")
    with pytest.raises(Conflict, match=USUAL):
        own_profiles.copy(USUAL, "Ascend two cards", actor="ann")


def test_a_name_is_taken_once(data: object) -> None:
    own_profiles.copy(USUAL, "Lab", actor="ann")
    with pytest.raises(Conflict, match="lab already"):
        own_profiles.copy("ascend-reference", "lab", actor="ann")
    with pytest.raises(InvalidInput):
        own_profiles.copy(USUAL, "   ", actor="ann")


def test_what_is_not_there_is_named(data: object) -> None:
    for call in (lambda: own_profiles.find("moon"), lambda: own_profiles.copy("moon", "x", actor="ann")):
        with pytest.raises(NotFound, match=USUAL):
            call()
    with pytest.raises(NotFound, match="of your own"):
        own_profiles.remove("moon", actor="ann")


def test_a_refused_edit_changes_nothing(data: object) -> None:
    mine = own_profiles.copy(USUAL, "lab", actor="ann")
    with pytest.raises(InvalidInput):
        own_profiles.change(mine.id, actor="ann", title="Other", limits={"npus": -1})
    assert own_profiles.find("lab") == mine


def test_every_change_is_written_down(data: object) -> None:
    own_profiles.copy(USUAL, "lab", actor="ann")
    own_profiles.change("lab", actor="bob", title="Laboratory")
    own_profiles.change("lab", actor="bob", title="Laboratory")
    own_profiles.remove("lab", actor="ann")
    told = [(one.actor, one.became) for one in history.events("profile:lab")]
    assert told == [("ann", "deleted"), ("bob", "edited"), ("ann", "created")]


def test_a_profile_that_was_stored_by_an_older_version_still_judges(data: object) -> None:
    gpu = remote("gpu1")
    own_profiles.copy(USUAL, "lab", actor="ann")
    with writing() as session:
        row = session.get_one(models.OwnProfile, "lab")
        body = json.loads(row.body)
        body["checks"].append("a_check_that_is_no_more")
        del body["limits"]["cores"]
        row.body = json.dumps(body)
    checked = observe.judged(gpu, "lab")
    assert checked is not None
    assert checked.profile.limits["cores"] == PROFILES[USUAL].limits["cores"]
    assert [one.name for one in checked.judged] == list(PROFILES[USUAL].checks)
