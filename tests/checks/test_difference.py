"""What counts as a difference between two checklists or two sets of facts, and what moves by itself."""

from dataclasses import replace

import pytest

from console.catalog.profiles import profile
from console.checks import Judged, Waived, judge
from console.checks.difference import Kind, alike, differences, fact_differences
from console.text import say, verbatim
from tests.checks.composed import HOST, host, rooms

PROFILE = profile("ascend-reference")


def list_of(**changes: str) -> list[Judged]:
    return judge(host(**changes), PROFILE)


def kinds(was: list[Judged], now: list[Judged]) -> dict[str, Kind]:
    return {one.either.name: one.kind for one in differences(was, now) if one.kind != Kind.SAME}


def test_the_same_host_twice_differs_in_nothing() -> None:
    assert kinds(list_of(), list_of()) == {}
    assert len(differences(list_of(), list_of())) == len(PROFILE.checks)


def test_another_level_and_another_value_are_told_apart() -> None:
    found = kinds(list_of(), list_of(governors="begin\n    128 powersave\n", libc="glibc 2.39\n"))
    assert found == {"cpu_governor": Kind.LEVEL, "c_library": Kind.SEEN}


def test_what_moves_by_itself_is_no_news_until_it_moves_far() -> None:
    later = {"clock": "1796169700\n+0800\n", "rooms": rooms(work=880)}
    assert kinds(list_of(), list_of(**later)) == {}
    assert kinds(list_of(), list_of(rooms=rooms(work=600))) == {"room_in_work_folder": Kind.SEEN}


def test_a_check_of_one_list_only_is_new_or_gone() -> None:
    whole = list_of()
    assert kinds(whole[1:], whole) == {whole[0].name: Kind.NEW}
    assert kinds(whole, whole[1:]) == {whole[0].name: Kind.GONE}
    assert [one.either.name for one in differences(whole, whole[1:])][-1] == whole[0].name


def test_a_waiver_changes_how_a_check_stands() -> None:
    was = list_of(governors="begin\n    128 powersave\n")
    now = [replace(one, waiver=Waived("known", "ann", 0.0)) if one.name == "cpu_governor" else one for one in was]
    assert kinds(was, now) == {"cpu_governor": Kind.LEVEL}


@pytest.mark.parametrize(
    ("one", "other", "slack", "same"),
    [
        ("600 GiB on /data", "590 GiB on /data", 0.1, True),
        ("600 GiB on /data", "590 GiB on /home", 0.1, False),
        ("600 GiB on /data", "500 GiB on /data", 0.1, False),
        ("driver 25.5.1", "driver 25.5.2", 0.0, False),
        ("31 °C", "31 – 33 °C", 0.25, False),
        ("0 W", "0 W", 0.25, True),
    ],
)
def test_figures_may_move_by_a_part_and_words_may_not(one: str, other: str, slack: float, same: bool) -> None:
    assert alike(verbatim(one), verbatim(other), slack) is same


def test_a_sentence_with_other_values_is_another_one() -> None:
    assert not alike(say("{a} modules", a=8), say("{a} modules", a=16))


def test_facts_side_by_side_name_what_only_one_was_asked() -> None:
    one, other = host(), host(kernel="Linux 5.10.0 aarch64\n")
    found = {each.name: each for each in fact_differences(one, other)}
    assert set(found) <= set(HOST)
    assert [name for name, each in found.items() if not each.is_same] == ["kernel"]
    bare = replace(other, raws={name: raw for name, raw in other.raws.items() if name != "docker"})
    docker = next(each for each in fact_differences(one, bare) if each.name == "docker")
    assert (docker.is_same, docker.right) == (False, None)
    assert "26.1.3" in str(docker.left)


def test_a_fact_that_cannot_be_read_shows_why() -> None:
    found = {each.name: each for each in fact_differences(host(), host(npu_topo="timeout"))}
    assert "did not finish" in str(found["npu_topo"].right)
