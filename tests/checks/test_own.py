"""Which values a limit of a profile may take, and what is said about those it may not."""

import json
from dataclasses import replace

import pytest

from console.catalog.profiles import PROFILES, Profile, from_entry, profile
from console.checks import CHECKS, judge, own
from console.checks.limit_words import LIMITS
from console.checks.own import OWN_SOURCE, edited
from console.errors import InvalidInput
from tests.checks.composed import host

TWO, CPU = profile("ascend-two-cards"), profile("this-machine-cpu")


def copy_of(one: Profile) -> Profile:
    return replace(one, id="mine", based_on=one.id)


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_survives_being_written_down(name: str) -> None:
    one = copy_of(PROFILES[name])
    assert from_entry(json.loads(json.dumps(one.entry()))) == one


def test_every_limit_has_a_name_for_people_and_no_name_is_left_over() -> None:
    assert {name for one in PROFILES.values() for name in one.limits} == set(LIMITS)


@pytest.mark.parametrize("name", PROFILES)
def test_the_usual_values_are_accepted_as_they_are(name: str) -> None:
    one = copy_of(PROFILES[name])
    again = edited(one, limits={limit: each.value for limit, each in one.limits.items()}, checks=one.checks)
    assert again == one
    assert own.changed_limits(again) == []


@pytest.mark.parametrize("name", PROFILES)
def test_every_check_that_may_be_chosen_can_be_judged(name: str) -> None:
    one = copy_of(PROFILES[name])
    whole = edited(one, checks=own.choices(one), limits={})
    assert set(one.checks) <= set(own.choices(one)) <= set(CHECKS)
    broken = [each.name for each in judge(host(), whole) if "check itself failed" in str(each.verdict.seen)]
    assert broken == []


@pytest.mark.parametrize(
    ("limit", "given", "kept"),
    [
        ("cores", "32", 32),
        ("memory_wished_gib", 384.5, 384.5),
        ("memory_wished_gib", "384", 384),
        ("cann", "8.5.0", "8.5.0"),
        ("glibc", "2.35", "2.35"),
        ("pythons", "3.10, 3.11", ["3.10", "3.11"]),
        ("systems", "ubuntu 24.04, 麒麟 V10, ubuntu 24.04", ["ubuntu 24.04", "麒麟 V10"]),
        (
            "sysctls",
            {"kernel/numa_balancing": "0", "vm/swappiness": "0"},
            {"kernel/numa_balancing": 0, "vm/swappiness": 0},
        ),
    ],
)
def test_a_value_is_kept_in_its_kind_and_called_ones_own(limit: str, given: object, kept: object) -> None:
    found = edited(copy_of(TWO), limits={limit: given}).limits[limit]
    assert (found.value, found.source, type(found.value)) == (kept, OWN_SOURCE, type(kept))


@pytest.mark.parametrize(
    ("limit", "given", "says"),
    [
        ("cores", "many", "whole number"),
        ("cores", 2.5, "whole number"),
        ("npus", 0, "1 or more"),
        ("memory_wished_gib", -1, "from 0"),
        ("memory_wished_gib", 0, "from 0"),
        ("memory_wished_gib", "nan", "not nan"),
        ("memory_wished_gib", "inf", "not inf"),
        ("memory_usable_part", 1.5, "from 0.5 to 1"),
        ("cann", "newest", "25.5.1"),
        ("cann", "", "not -"),
        ("glibc", "2", "2.34"),
        ("pythons", "3.12, 3.10", "oldest first"),
        ("pythons", "3.12", "two versions"),
        ("systems", " , ", "at least one word"),
        ("tools", "gcc; rm -rf /", "letters"),
        ("sysctls", {"vm/swappiness": 1}, "kernel/numa_balancing"),
        ("sysctls", 5, "a value for each"),
        ("sysctls", {"kernel/numa_balancing": 0, "vm/swappiness": "x"}, "vm/swappiness"),
        ("moon", 1, "There is no limit moon"),
        ("memory_least_gib", 9999, "must not be more than"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_limit_and_what_it_takes(
    limit: str, given: object, says: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        edited(copy_of(TWO), limits={limit: given})
    assert says in str(refused.value.text)
    assert "{" not in str(refused.value.text).replace("{kernel", "")


def test_going_back_to_the_usual_value_names_its_source_again() -> None:
    changed = edited(copy_of(TWO), limits={"cores": 32})
    assert [str(one) for one in own.changed_limits(changed)] == ["CPU cores: 32, usually 16"]
    assert edited(changed, limits={"cores": 16}) == copy_of(TWO)


def test_checks_are_kept_in_the_usual_order_and_only_fitting_ones() -> None:
    found = edited(copy_of(TWO), checks=["npu_links", "architecture", "architecture"], limits={})
    assert found.checks == ("architecture", "npu_links")
    with pytest.raises(InvalidInput, match="cpu_instructions"):
        edited(copy_of(TWO), checks=["cpu_instructions"], limits={})
    with pytest.raises(InvalidInput, match="at least one"):
        edited(copy_of(CPU), checks=[], limits={})


@pytest.mark.parametrize(
    ("name", "called"),
    [("机房A  最低 要求", "机房a-最低-要求"), ("A2: lab/3", "a2-lab-3"), (" x ", "x"), ("v1.0", "v1.0")],
)
def test_a_name_of_any_language_gives_a_word_for_the_command_line(name: str, called: str) -> None:
    assert own.id_for(own.named(name)) == called


@pytest.mark.parametrize("name", ["", "  ", "—!", "x" * 61])
def test_a_name_that_says_nothing_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="needs a name"):
        own.named(name)
