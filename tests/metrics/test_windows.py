"""Percentiles stay within the bucket of the truth, and restarts and holes are gaps, never spikes."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.metrics.exposition import parse
from console.metrics.scrape import Bucket
from console.metrics.stored import StoredScrape, body_of
from console.metrics.windows import POINTS, Point, Quantile, quantile, series, spacing, summary
from tests.metrics.engine import BOUNDS, PretendedEngine

VALUES = st.floats(0, 20)


def counted(values: Sequence[float], bounds: Sequence[float]) -> list[Bucket]:
    return [Bucket(le, sum(value <= le for value in values)) for le in bounds]


def steady(seconds: int, engine: PretendedEngine, start: int = 0, attempt: int = 1) -> list[StoredScrape]:
    """A scrape every two seconds, one request of 10 tokens with a first token after 0.3 s ending before each."""
    found = []
    for time in range(start, start + seconds, 2):
        engine.finish(ttft=0.3)
        found.append(engine.stored(time, attempt))
    return found


def knows_nothing(point: Point) -> bool:
    return point == Point(point.time, {"ttft": None, "inter_token": None, "e2e": None})


@given(
    st.lists(VALUES, min_size=1, max_size=200),
    st.lists(st.floats(0.001, 15), min_size=1, max_size=20, unique=True),
    st.sampled_from([0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1.0]),
)
def test_quantile_lies_in_the_bucket_of_the_true_one(values: list[float], finite: list[float], q: float) -> None:
    bounds = [*sorted(finite), math.inf]
    true = sorted(values)[math.ceil(q * len(values)) - 1]
    at = next(number for number, le in enumerate(bounds) if true <= le)
    found = quantile(counted(values, bounds), q)
    assert found is not None
    if math.isinf(bounds[at]):
        assert found == Quantile(bounds[-2], at_least=True)
        assert true >= found.value
    else:
        assert (bounds[at - 1] if at else 0) <= found.value <= bounds[at] * (1 + 1e-12)
        assert not found.at_least


@given(st.lists(VALUES, max_size=60), st.lists(VALUES, max_size=60), st.sampled_from([0.5, 0.95, 0.99]))
def test_leaving_out_silent_buckets_changes_no_quantile(old: list[float], new: list[float], q: float) -> None:
    engine = PretendedEngine()
    for value in old:
        engine.finish(value)
    first = engine.stored(0)
    for value in new:
        engine.finish(value)
    window = summary([first, engine.stored(2)]).latency["ttft"]
    assert window.count == len(new)
    assert window.quantiles.get(f"p{round(q * 100)}") == quantile(counted(new, BOUNDS), q)
    assert window.mean == (pytest.approx(sum(new) / len(new), abs=1e-9) if new else None)


def test_quantile_interpolates_as_prometheus_does() -> None:
    buckets = [Bucket(0.1, 0), Bucket(0.2, 10), Bucket(0.4, 20), Bucket(math.inf, 20)]
    assert quantile(buckets, 0.5) == Quantile(0.2)
    assert quantile(buckets, 0.75) == Quantile(pytest.approx(0.3))
    assert quantile(buckets[1:], 0.25) == Quantile(pytest.approx(0.1))  # the first bucket begins at 0
    assert quantile([Bucket(0.1, 0), Bucket(math.inf, 3)], 0.5) == Quantile(0.1, at_least=True)


def test_quantile_of_nothing_is_unknown_and_of_a_wrong_share_an_error() -> None:
    assert quantile([], 0.5) is None
    assert quantile([Bucket(1, 0), Bucket(math.inf, 0)], 0.5) is None
    assert quantile([Bucket(math.inf, 5)], 0.5) is None
    with pytest.raises(ValueError, match=r"\(0, 1\]"):
        quantile([Bucket(1, 1), Bucket(math.inf, 1)], 95)


def test_steady_load_gives_steady_figures_after_the_first_window() -> None:
    points = list(series(steady(60, PretendedEngine(running=2, usage=0.5))))
    assert len(points) == 30
    assert all(point.generation_rate is None for point in points if point.time < 14)
    for point in points[7:]:
        assert (point.generation_rate, point.prompt_rate) == (pytest.approx(5), pytest.approx(50))
        ttft = point.latency["ttft"]
        assert ttft is not None
        assert 0.25 < ttft["p50"].value < ttft["p95"].value <= 0.5
    assert (points[0].running, points[0].kv_cache_usage) == (2, 0.5)


def test_a_window_without_a_finished_request_is_a_gap_and_not_zero() -> None:
    engine = PretendedEngine()
    idle = [engine.stored(time) for time in range(0, 40, 2)]
    last = list(series(idle))[-1]
    assert last.latency == {"ttft": None, "inter_token": None, "e2e": None}
    assert last.generation_rate == 0


def test_a_hole_is_a_gap() -> None:
    engine = PretendedEngine()
    scrapes = steady(40, engine) + steady(40, engine, start=60)
    points = list(series(scrapes))
    gaps = [point for point in points if knows_nothing(point)]
    assert [point.time for point in gaps] == [39]
    assert all(point.generation_rate is None for point in points if 38 < point.time < 74)
    rates = [point.generation_rate for point in points if point.generation_rate is not None]
    assert max(rates) == pytest.approx(5)


def test_a_late_scrape_is_no_hole_and_no_spike() -> None:
    engine = PretendedEngine()
    scrapes = [scrape for scrape in steady(60, engine) if scrape.time not in (30, 32)]
    points = list(series(scrapes))
    assert not any(knows_nothing(point) for point in points)
    assert {round(point.generation_rate, 6) for point in points if point.generation_rate is not None} == {5.0}


@pytest.mark.parametrize("kind", ["attempt", "process", "counter"])
def test_a_restart_is_a_gap(kind: str) -> None:
    old = PretendedEngine()
    scrapes = steady(40, old)
    new = PretendedEngine(start=1_040.0 if kind == "process" else old.start)
    if kind != "counter":  # so that no counter falls and only the start tells
        new.prompt, new.generated, new.seen = old.prompt + 5000, old.generated + 5000, old.seen
    scrapes += steady(40, new, start=40, attempt=2 if kind == "attempt" else 1)
    points = list(series(scrapes))
    assert [point.time for point in points if knows_nothing(point)] == [39]
    rates = [point.generation_rate for point in points if point.generation_rate is not None]
    assert (min(rates), max(rates)) == (pytest.approx(5), pytest.approx(5))
    assert points[-1].generation_rate == pytest.approx(5)


def test_an_engine_that_joins_is_a_break() -> None:
    one, line = PretendedEngine(), 'vllm:kv_cache_usage_perc{engine="1"} 0.9\n'
    both = StoredScrape(2, 1, body_of(parse(one.text() + line)))
    points = list(series([one.stored(0), both]))
    assert knows_nothing(points[1])
    assert points[2].kv_cache_usage == 0.9


def test_one_scrape_and_none() -> None:
    assert list(series([])) == []
    (point,) = series([PretendedEngine(running=1).stored(0)])
    assert (point.running, point.generation_rate, point.latency["ttft"]) == (1, None, None)
    for scrapes in ([], [PretendedEngine().stored(0)]):
        seen = summary(scrapes)
        assert (seen.seconds, seen.generation_rate, seen.requests) == (0, None, {})
        assert seen.latency["ttft"].quantiles == {}


def test_summary_leaves_out_restarts_and_holes() -> None:
    engine = PretendedEngine()
    scrapes = steady(40, engine) + steady(40, engine, start=100) + steady(20, PretendedEngine(start=5), start=140)
    seen = summary(scrapes)
    assert seen.seconds == 38 + 38 + 18
    assert seen.requests == {"stop": 19 + 19 + 9}
    assert seen.counted["generation_tokens_total"] == 470
    assert seen.generation_rate == pytest.approx(5)
    assert (seen.latency["ttft"].count, seen.latency["ttft"].mean) == (47, pytest.approx(0.3))
    assert set(seen.latency["e2e"].quantiles) == {"p50", "p95", "p99"}


def test_a_histogram_appears_with_its_first_observation_unless_the_text_was_cut() -> None:
    engine, ttft = PretendedEngine(), "vllm:time_to_first_token_seconds"
    before = "".join(line + "\n" for line in engine.text().splitlines() if ttft not in line)
    engine.finish(0.3)
    after = engine.stored(2)
    appeared = summary([StoredScrape(0, 1, body_of(parse(before))), after])
    assert appeared.latency["ttft"].count == 1
    engine.finish(0.3)
    cut = StoredScrape(0, 1, body_of(parse(before + "vllm:time_to")))
    assert cut.cut
    window = list(series([cut, after, engine.stored(16)], window=14, interval=8))
    assert window[-1].latency["ttft"] is not None
    assert list(series([cut, engine.stored(16)], window=14, interval=8))[-1].latency["ttft"] is None


def test_spacing_keeps_long_spans_at_500_points() -> None:
    assert [spacing(minutes * 60) for minutes in (1, 5, 15)] == [0, 0, 0]
    for hours in (0.5, 1, 6, 24, 24 * 7, 24 * 30, 24 * 365):
        assert spacing(hours * 3600) > 0
        assert POINTS / 2.6 <= hours * 3600 / spacing(hours * 3600) <= POINTS


def test_stored_texts_survive_the_way_through_the_file() -> None:
    samples = Path(__file__).parent.parent / "samples" / "metrics"
    for path in samples.glob("*.txt"):
        scrape = parse(path.read_text(encoding="utf-8"))
        kept = StoredScrape(0, 1, body_of(scrape))
        assert kept.number("running") == scrape.running
        assert kept.number("generation_tokens_total") == scrape.total("generation_tokens_total")
        assert kept.success == scrape.success
        whole, trimmed = scrape.histogram("e2e"), kept.histograms.get("e2e")
        assert (whole is None) == (trimmed is None)
        if whole and trimmed:
            assert quantile(whole.buckets, 0.95) == quantile(trimmed.buckets, 0.95)
