"""Meanings of flags: complete, in both languages, and in agreement with what the releases' own parsers say."""

import pytest

from console.catalog import parsers
from console.catalog.flags import FILE, flags, flaws, near, since, told, until


def test_the_file_has_no_flaws() -> None:
    assert [str(one) for one in flaws()] == []


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        (
            {"options": [{"name": "--nothing", "en": "a", "zh": "b", "source": "s", "verified": True}]},
            "No release knows",
        ),
        ({"options": [{"name": "--seed", "en": "a", "source": "s", "verified": True}]}, "missing"),
        ({"config": [{"name": "x", "en": "a", "zh": "b", "source": "s", "verified": True, "y": 1}]}, "no such field"),
        ({"wrong": [{"name": "--x", "en": "a", "zh": "b", "source": "s", "verified": True}]}, "missing"),
        ({"variables": [{"name": "X", "what": "y", "en": "a", "zh": "b", "source": "s", "verified": True}]}, "Wanted"),
        ({"methods": [{"name": "x", "families": ["H100"], "source": "s", "verified": True}]}, "Wanted"),
        ({"config": [{"name": "x", "en": "a", "zh": "b", "source": "s", "verified": True}] * 2}, "name of its own"),
    ],
)
def test_flaws_are_found(tree: dict[str, object], said: str) -> None:
    assert any(said in str(one) for one in flaws(tree))


def test_every_setting_of_a_form_and_every_key_of_the_stable_release_has_a_meaning() -> None:
    from console.serving.options import FIELDS

    assert set(FIELDS.values()) <= flags().options.keys()
    inner = {"refresh", "ascend_log_path", "c8_enable_reshape_optim", "dp_allreduce_on_npu", "hamming_sparse"}
    inner |= {"enable_hamming_sparse", "enable_sleep_mode_extra_cleanup", "mix_placement", "msmonitor_use_daemon"}
    inner |= {"enable_transpose_kv_cache_by_block"}
    assert parsers.plugin("0.23.0.post1").config.keys() - flags().config.keys() <= inner, "undocumented ones alone"
    assert all(told(one.text, language) for one in flags().options.values() for language in ("en", "zh"))


@pytest.mark.parametrize(
    ("option", "first", "last"),
    [
        ("--enable-reasoning", "0.7.3", "0.9.1"),
        ("--task", "0.7.3", "0.11.0"),
        ("--swap-space", "0.7.3", "0.13.0"),
        ("--num-scheduler-steps", "0.7.3", "0.9.1"),
        ("--async-scheduling", "0.11.0", None),
        ("--headless", "0.9.1", None),
        ("--nnodes", "0.13.0", None),
        ("--kv-cache-memory-bytes", "0.11.0", None),
        ("--memory-efficient-attention", None, None),
        ("--use-fp8", None, None),
    ],
)
def test_since_and_until_are_those_of_the_sources(option: str, first: str | None, last: str | None) -> None:
    assert (since(option), until(option)) == (first, last)


def test_a_name_that_is_no_option_has_none_of_its_words_in_any_release() -> None:
    never = (
        "--memory-efficient-attention",
        "--async-engine",
        "--use-fp8",
        "--device-count",
        "--num-gpus",
        "--max-length",
    )
    assert set(never) <= flags().wrong.keys()
    assert parsers.every_name().isdisjoint(never)


def test_what_becomes_of_a_variable_is_a_key_that_some_release_reads() -> None:
    keys = {key for one in parsers.releases() for key in parsers.plugin(one).config}
    plugin = [one for one in flags().variables.values() if one.what == "plugin" and one.replace]
    assert plugin
    assert [one.name for one in plugin if one.replace[0] not in keys] == []
    for key in parsers.plugin("0.23.0").config.values():
        if key.env in flags().variables:
            assert flags().variables[key.env].replace == (key.name,)


def test_names_with_a_star_are_the_last_resort() -> None:
    assert flags().variable("CUDA_VISIBLE_DEVICES") is flags().variables["CUDA_VISIBLE_DEVICES"]
    assert flags().variable("CUDA_HOME") is flags().variables["CUDA_*"]
    assert flags().variable("HOME") is None


def test_a_mistyped_name_finds_the_one_that_is_meant() -> None:
    names = parsers.parser_of("0.23.0").by_name
    assert near("--tensor-paralell-size", names) == "--tensor-parallel-size"
    assert near("--wholly-different", names) is None


def test_the_file_is_dated() -> None:
    assert "as_of: '2026-" in FILE.read_text()
