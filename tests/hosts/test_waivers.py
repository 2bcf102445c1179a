"""Waiving a check: with a reason and a name, told apart from a pass, ended again, written down."""

import pytest

from console.checks import WAIVED
from console.errors import Conflict, InvalidInput, NotFound
from console.hosts import observe, waivers, waiving
from console.hosts.inventory import Host
from console.jobs import history
from console.jobs.stages import StageState, stages
from tests.hosts.said import remote, say_again
from tests.jobs.conftest import data, host

__all__ = ["data", "host"]
OLD = {"libc": "glibc 2.20\n"}


@pytest.fixture
def old(data: object) -> Host:
    """A host on which exactly one check fails."""
    return remote("gpu1", **OLD)


def standing(host: Host, check: str = "c_library") -> str:
    checked = observe.judged(host)
    assert checked is not None
    return next(one.standing for one in checked.judged if one.name == check)


def check_stage(host: Host) -> tuple[StageState, str]:
    found = next(one for one in stages(host) if one.name == "check")
    return found.state, str(found.words)


def waive(
    host: Host, check: str = "c_library", reason: str = "a container brings its own", name: str = "Ann Lee"
) -> None:
    waiving.waive(host, check, reason=reason, name=name, actor="ann")


def test_a_waived_failure_does_not_make_the_stage_red_and_is_no_pass(old: Host) -> None:
    state, words = check_stage(old)
    assert (state, words.endswith("fail 1"), standing(old)) == (StageState.FAILED, True, "fail")
    waive(old)
    state, words = check_stage(old)
    assert (state, words.endswith("fail 0 · waived 1"), standing(old)) == (StageState.OK, True, WAIVED)
    waiving.end(old, "c_library", actor="ann")
    assert (check_stage(old)[0], standing(old)) == (StageState.FAILED, "fail")


def test_it_holds_over_the_next_probe_and_is_not_needed_once_the_check_passes(old: Host) -> None:
    waive(old)
    say_again(old, **OLD)
    assert standing(old) == WAIVED
    say_again(old)
    checked = observe.judged(old)
    assert checked is not None
    one = next(each for each in checked.judged if each.name == "c_library")
    assert one.passed
    assert one.waiver is not None
    assert one.waiver.name == "Ann Lee"


def test_it_is_of_one_host(old: Host) -> None:
    other = remote("gpu2", **OLD)
    waive(old)
    assert (standing(old), standing(other)) == (WAIVED, "fail")


def test_events_tell_who_waived_what_and_why(old: Host) -> None:
    waive(old)
    waiving.end(old, "c_library", actor="bob")
    ended, made = history.events(f"host:{old.id}")[:2]
    assert (made.actor, made.became) == ("ann", "waived")
    assert str(made.reason) == "C library, waived by Ann Lee: a container brings its own"
    assert (ended.actor, ended.was, ended.became) == ("bob", "waived", "waiver ended")


@pytest.mark.parametrize(("reason", "name"), [("", "ann"), ("why", " "), ("x" * 501, "ann")])
def test_reason_and_name_are_needed(old: Host, reason: str, name: str) -> None:
    with pytest.raises(InvalidInput):
        waive(old, reason=reason, name=name)
    assert waivers.held(old.id) == {}


def test_what_passes_or_was_never_checked_or_does_not_exist_is_not_waived(old: Host, host: Host) -> None:
    with pytest.raises(InvalidInput, match="passes on gpu1"):
        waive(old, "architecture")
    with pytest.raises(NotFound, match="no check moon"):
        waive(old, "moon")
    with pytest.raises(InvalidInput, match="not been checked"):
        waive(host, "architecture")


def test_one_waiver_at_a_time(old: Host) -> None:
    waive(old)
    with pytest.raises(Conflict, match="already"):
        waive(old)
    waiving.end(old, "c_library", actor="ann")
    with pytest.raises(NotFound, match="not waived"):
        waiving.end(old, "c_library", actor="ann")
    waive(old)
    assert set(waivers.held(old.id)) == {"c_library"}


def test_a_secret_in_the_reason_is_masked(old: Host) -> None:
    waive(old, reason="log in with password=hunter22 \n and see")
    assert waivers.held(old.id)["c_library"].reason == "log in with password=******** and see"
