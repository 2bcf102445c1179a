"""Every stored /metrics text gives what is known about it, and damaged text never gives an invented figure."""

import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from console.metrics.exposition import parse
from console.metrics.scrape import Engine, Scrape

SAMPLES = Path(__file__).parent.parent / "samples" / "metrics"
ENTRIES = yaml.safe_load((SAMPLES / "index.yaml").read_text(encoding="utf-8"))["files"]
RENAMED = {"tpot": "inter_token"}
HISTOGRAMS = ("ttft", "tpot", "e2e")


def scrape(name: str) -> Scrape:
    return parse((SAMPLES / name).read_text(encoding="utf-8"))


def assert_engine(engine: Engine, expected: dict[str, Any]) -> None:
    for figure, value in expected.items():
        seen = getattr(engine, RENAMED.get(figure, figure))
        if figure in HISTOGRAMS:
            assert (seen.count, seen.sum) == (value["count"], pytest.approx(value["sum_s"])), figure
            assert seen.metric == value.get("metric", seen.metric)
            assert seen.buckets[-1] == (math.inf, seen.count)
        else:
            assert seen == value, figure


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["file"]))
def test_stored_text_gives_what_is_known_about_it(entry: dict[str, Any]) -> None:
    expected, seen = entry["expect"], scrape(entry["file"])
    assert seen.models == tuple(expected["models"])
    assert (seen.running, seen.waiting) == (expected["running_total"], expected["waiting_total"])
    assert [engine.engine for engine in seen.engines] == [engine["engine"] for engine in expected["engines"]]
    for engine, figures in zip(seen.engines, expected["engines"], strict=True):
        assert_engine(engine, figures)
    for figure in ("num_gpu_blocks", "block_size", "sleep_state", "process_start_time"):
        if figure in expected:
            assert getattr(seen, figure) == expected[figure], figure


def test_every_stored_text_is_listed() -> None:
    assert {entry["file"] for entry in ENTRIES} == {path.name for path in SAMPLES.glob("*.txt")}


def test_sound_texts_drop_nothing_and_a_status_line_is_reported() -> None:
    assert scrape("vllm_0.18.1.txt").dropped == ()
    dropped = scrape("vllm_0.30.0_cpu_run_excerpt.txt").dropped
    assert [(line.number, line.line, line.cut) for line in dropped] == [(1, "HTTP_STATUS=200", False)]


def test_two_engines_add_up_except_for_their_cache_usage() -> None:
    seen = scrape("vllm_0.11.0_dp2.txt")
    assert seen.total("generation_tokens_total") == 20480 + 16384
    assert seen.success == {"stop": 75, "length": 10, "abort": 2}
    assert seen.kv_cache_usage == 0.4375
    both, first = seen.histogram("ttft"), seen.engines[0].ttft
    assert both is not None
    assert first is not None
    assert (both.count, both.sum) == (6, pytest.approx(1.02))
    assert [b.cumulative for b in both.buckets] == [2 * b.cumulative for b in first.buckets]


def test_the_new_name_wins_where_both_are_there() -> None:
    engine = scrape("vllm_0.11.0_dp2.txt").engines[0]
    assert engine.inter_token is not None
    assert engine.inter_token.metric == "vllm:inter_token_latency_seconds"


def test_iteration_tokens_is_a_histogram_and_no_token_counter() -> None:
    engine = scrape("vllm_0.18.1.txt").engines[0]
    assert engine.iteration_tokens is not None
    assert engine.iteration_tokens.count == 0
    assert engine.prompt_tokens_total == 51234


def test_a_cut_number_is_not_taken_for_a_number() -> None:
    seen = parse('vllm:num_requests_running{engine="0"} 3\nvllm:generation_tokens_total{engine="0"} 20')
    assert seen.engines == (Engine("0", running=3),)
    assert [line.cut for line in seen.dropped] == [True]


def test_a_total_is_unknown_when_one_engine_does_not_give_it() -> None:
    text = 'vllm:num_requests_running{engine="%s"} 3\n'
    seen = parse(text % 0 + text % 1 + 'vllm:num_requests_waiting{engine="0"} 1\n')
    assert (seen.running, seen.waiting) == (6, None)


def test_a_histogram_that_lost_its_last_bucket_is_unknown() -> None:
    name = "vllm:time_to_first_token_seconds"
    rest = f'{name}_bucket{{le="1.0"}} 2\n{name}_count 3\n{name}_sum 4\n'
    assert parse(rest).histogram("ttft") is None
    assert parse(f'{name}_bucket{{le="+Inf"}} 3\n' + rest).histogram("ttft") is not None


def test_ten_engines_stand_in_the_order_of_their_numbers() -> None:
    text = "".join(f'vllm:num_requests_running{{engine="{n}"}} 0\n' for n in (10, 9, 0))
    assert [engine.engine for engine in parse(text).engines] == ["0", "9", "10"]


def test_an_engine_asleep_is_not_reported_awake() -> None:
    line = 'vllm:engine_sleep_state{engine="%s",sleep_state="%s"} %d\n'
    text = line % (0, "awake", 1) + line % (1, "awake", 0) + line % (1, "discard_all", 1)
    assert parse(text).sleep_state == "discard_all"


@pytest.mark.parametrize("value", ["NaN", "+Inf", "1e999", "9" * 400, "1_0", "three"])
def test_what_is_no_finite_number_is_dropped(value: str) -> None:
    seen = parse(f"vllm:num_requests_running {value}\n")
    assert seen.running is None
    assert len(seen.dropped) == 1


FULL = (SAMPLES / "vllm_0.11.0_dp2.txt").read_text(encoding="utf-8")
WHOLE = {engine.engine: engine for engine in parse(FULL).engines}


@given(st.integers(0, len(FULL)))
def test_a_text_cut_anywhere_gives_true_figures_or_none(length: int) -> None:
    for engine in parse(FULL[:length]).engines:
        for figure in ("running", "kv_cache_usage", "generation_tokens_total", "ttft", "e2e"):
            assert getattr(engine, figure) in (None, getattr(WHOLE[engine.engine], figure))


@given(st.text(alphabet='vllm:num_requests_running{}="\\,# \n1.e+-_\t', max_size=200))
def test_no_text_raises(text: str) -> None:
    for line in text.split("\n"):
        parse(f"vllm:num_requests_running{line}\n{text}")
