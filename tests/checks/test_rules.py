"""What holds for every check and profile, including those that will be added."""

from pathlib import Path

import pytest
import yaml

from console.catalog.profiles import PROFILES, profile
from console.checks import AREAS, CHECKS
from console.errors import NotFound
from console.facts.ascend import FACTS as ASCEND_FACTS
from console.facts.local import FACTS
from console.facts.probe import PROBE

CATALOG = Path(__file__).resolve().parents[2] / "console" / "catalog"


@pytest.mark.parametrize("name", CHECKS)
def test_check_names_existing_facts_and_has_texts(name: str) -> None:
    check = CHECKS[name]
    known = {fact.name for fact in (*FACTS, *ASCEND_FACTS)} | {PROBE.name}
    assert set(check.facts) | set(check.optional) <= known
    assert check.facts
    assert check.area in AREAS
    assert check.title.sentence
    assert check.why.sentence.endswith(".")


@pytest.mark.parametrize("name", PROFILES)
def test_profile_is_complete(name: str) -> None:
    one = PROFILES[name]
    assert one.id == name
    assert len(set(one.checks)) == len(one.checks)
    assert set(one.checks) <= set(CHECKS)
    for words in (one.title, one.about):
        assert set(words) == {"en", "zh"}
        assert all(words.values())
    assert all(limit.source for limit in one.limits.values())


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_needs_only_facts_that_its_hosts_are_asked(name: str) -> None:
    asked = {fact.name for fact in (ASCEND_FACTS if name.startswith("ascend") else FACTS)} | {PROBE.name}
    assert {fact for check in PROFILES[name].checks for fact in CHECKS[check].facts} <= asked


def test_every_check_belongs_to_a_profile() -> None:
    assert {name for one in PROFILES.values() for name in one.checks} == set(CHECKS)


def test_an_unknown_profile_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(NotFound, match="this-machine-cpu"):
        profile("nonsense")


def test_the_profile_agrees_with_what_is_installed() -> None:
    engine = yaml.safe_load((CATALOG / "local_cpu.yaml").read_text(encoding="utf-8"))["engine"]
    one = profile("this-machine-cpu")
    assert one.limits["glibc"].value == engine["glibc"]
    assert one.words("archs") == tuple(engine["machines"])
    assert one.words("pythons") == (engine["pythons"][0], engine["pythons"][-1])
