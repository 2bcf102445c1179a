"""Logs of real failures are read: the first cause is named, what only follows is not, healthy logs say nothing."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from console.catalog.failures import FILE, Failure, failures, flaws
from console.diagnose.findings import findings

SAMPLES = yaml.safe_load((Path(__file__).parents[1] / "samples" / "failures" / "logs.yaml").read_text("utf-8"))
HEALTHY = """\
INFO 12-01 10:00:00 [__init__.py:198] Platform plugin ascend is activated
INFO 12-01 10:00:31 [parallel_state.py:1208] rank 0 in world size 2 is assigned as DP rank 0, PP rank 0, TP rank 0
INFO 12-01 10:02:11 [worker.py:201] Available KV cache memory: 21.33GB
INFO 12-01 10:02:12 [kv_cache_utils.py:1087] GPU KV cache size: 812,544 tokens
vllm 0.23.0 requires torch==2.11.0, but you have torch 2.10.0+cpu which is incompatible.
INFO:     Application startup complete.
Waiting for the package tool (5 s): Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 77 (apt)
[Driver] [2026-12-01 10:00:00] [INFO]: Driver package installed successfully! Reboot needed for it to take effect!
"""


def test_the_catalog_has_no_flaws() -> None:
    assert [str(one) for one in flaws()] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "pip-hash"}, "name of its own"),
        ({"colour": "red"}, "no such field"),
        ({"source": ""}, "missing"),
        ({"stages": ["dinner"]}, "Wanted"),
        ({"match": ["("]}, "no regular expression"),
        ({"cause": {"en": "only one"}}, "Wanted"),
        ({"cause": {"en": "{who} did it", "zh": "{who}"}}, "fills every place"),
        ({"example": "nothing of it\n"}, "No pattern finds"),
    ],
)
def test_flaws_are_found(change: dict[str, object], said: str) -> None:
    tree = yaml.safe_load(FILE.read_text("utf-8"))
    tree["failures"].append({**tree["failures"][0], "id": "another", **change})
    assert any(said in str(one) for one in flaws(tree))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda one: one["id"])
def test_the_cause_of_a_real_failure_comes_first(sample: dict[str, str]) -> None:
    found = findings(sample["excerpt"])
    assert [one.failure.group for one in found[:1]] == [sample["category"]]
    assert found[0].evidence in sample["excerpt"]


@pytest.mark.parametrize("one", failures(), ids=lambda one: one.id)
def test_an_example_is_of_its_entry_and_both_languages_are_filled(one: Failure) -> None:
    found = findings(one.example)[0]
    assert found.failure.id == one.id
    for said in (found.cause("en"), found.cause("zh"), found.fix("en"), found.fix("zh")):
        assert said
        assert not {"{", "}", "?"} & set(said)


def test_a_healthy_log_says_nothing() -> None:
    assert findings(HEALTHY) == []
    assert findings("") == []


def test_what_follows_never_hides_the_cause() -> None:
    wrapper = next(one for one in SAMPLES if one["id"] == "engine_core_init_failed_generic")["excerpt"]
    cause = next(one for one in SAMPLES if one["id"] == "kv_cache_v1_models_s")["excerpt"]
    found = findings(f"{HEALTHY}{wrapper}{cause}{wrapper}")
    assert [one.failure.group for one in found] == ["kv_cache_too_small", "generic_wrapper"]
    assert (found[0].line, found[1].times) == (len(HEALTHY.splitlines()) + 2, 2)
    assert "34736" in found[0].cause("en")
    assert "34736" in found[0].fix("zh")


def test_a_stall_counts_only_at_the_end() -> None:
    stall = next(one for one in SAMPLES if one["id"] == "stuck_after_rank_assignment")["excerpt"]
    assert findings(f"{stall}\n\n")[0].failure.group == "hang_or_slow"
    assert findings(stall + "INFO more\n" * 5) == []


@given(st.text(max_size=400))
def test_any_text_is_read(log: str) -> None:
    for one in findings(log):
        assert one.cause("en")
        assert one.plain()
