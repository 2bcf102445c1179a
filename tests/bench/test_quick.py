"""A small measured load, against a server on a real socket."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.bench import runs
from console.bench.quick import OUTPUT_TOKENS, Request, measure, percentile
from console.errors import EngineError
from console.hosts.inventory import Host
from console.serving import instances
from console.serving.state import State
from tests.jobs.conftest import data, host
from tests.pages import seed
from tests.serving.pretended import pretended

__all__ = ["data", "host"]

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1)


@given(VALUES, st.floats(0, 100))
def test_at_least_so_many_do_not_exceed_it(values: list[float], percent: float) -> None:
    found = percentile(values, percent)
    assert found in values
    assert sum(value <= found for value in values) >= percent / 100 * len(values) - 1e-9
    assert all(
        sum(value <= lower for value in values) < percent / 100 * len(values) for lower in values if lower < found
    )


@pytest.mark.parametrize(
    ("values", "percent", "wanted"),
    [
        ([7.0], 50, 7.0),
        ([1.0, 2.0], 50, 1.0),
        ([3.0, 1.0, 2.0], 50, 2.0),
        ([float(n) for n in range(1, 101)], 95, 95.0),
        ([float(n) for n in range(1, 7)], 95, 6.0),
        ([1.0, 2.0], 0, 1.0),
        ([1.0, 2.0], 100, 2.0),
    ],
)
def test_percentiles_by_nearest_rank(values: list[float], percent: float, wanted: float) -> None:
    assert percentile(values, percent) == wanted


def test_a_measured_run_counts_what_the_server_counted() -> None:
    told: list[tuple[int, int]] = []
    with pretended("--answers noise --token-s 0") as url:
        found, wall_s = measure(
            url.removeprefix("http://"), "smol", concurrency=3, requests=7, done=lambda *now: told.append(now)
        )
    assert len(found) == 7
    assert sorted(told) == [(n, 7) for n in range(1, 8)]
    for one in found:
        assert one.output_tokens == OUTPUT_TOKENS
        assert one.prompt_tokens > 0
        assert 0 < one.ttft_s <= one.total_s <= wall_s
        assert one.tpot_s is not None
        assert one.ttft_s + one.tpot_s * (one.output_tokens - 1) == pytest.approx(one.total_s, abs=wall_s)


def test_at_most_so_many_are_under_way_at_once() -> None:
    """With one at a time no request begins before the one before it has ended."""
    with pretended("--answers noise --token-s 0.001") as url:
        found, wall_s = measure(url.removeprefix("http://"), "smol", concurrency=1, requests=3)
    assert sum(one.total_s for one in found) <= wall_s


@pytest.mark.parametrize(
    "misfortune", ["--error-after 3", "--drop-after 3", "--refuse 500", "--answers nothing", "--html"]
)
def test_a_load_with_holes_measures_nothing(misfortune: str) -> None:
    with pretended(misfortune) as url, pytest.raises(EngineError):
        measure(url.removeprefix("http://"), "smol", concurrency=2, requests=4)


def test_a_server_that_counts_nothing_measures_nothing() -> None:
    with pretended("--no-usage") as url, pytest.raises(EngineError):
        measure(url.removeprefix("http://"), "smol", concurrency=1, requests=1)


def test_a_key_is_sent() -> None:
    with pretended(key="secret") as url:
        address = url.removeprefix("http://")
        with pytest.raises(EngineError, match="API key"):
            measure(address, "smol", concurrency=1, requests=1)
        assert len(measure(address, "smol", concurrency=1, requests=1, api_key="secret")[0]) == 1


def test_a_run_is_kept_with_its_raw_figures(host: Host) -> None:
    one = instances.instance(seed.instance(host, "smol", State.ready))
    requests = [Request(0.1 * n, None if n == 1 else 0.05, 2.0, 20, 40) for n in range(1, 7)]
    number = runs.keep(one, {"concurrency": 2, "requests": 6}, requests, 12.0, 1000.0)
    assert runs.latest(host.id) == runs.runs()[0]
    run = runs.runs(host.id)[0]
    assert (run.id, run.instance_id, run.model, run.concurrency, run.started) == (number, one.id, "smol", 2, 1000.0)
    assert list(run.requests) == requests
    assert (run.ttft_p50_s, run.ttft_p95_s) == (pytest.approx(0.3), pytest.approx(0.6))
    assert run.tpot_mean_s == pytest.approx(statistics.mean([0.05] * 5))
    assert run.tokens_per_s == 20.0


def test_no_rate_is_made_up_where_none_is_known(host: Host) -> None:
    one = instances.instance(seed.instance(host, "smol", State.ready))
    runs.keep(one, {"concurrency": 1, "requests": 1}, [Request(0.1, None, 0.1, 5, 1)], 0.1, 0.0)
    run = runs.latest(host.id)
    assert run is not None
    assert run.tpot_mean_s is None


def test_nothing_was_measured_on_another_host(host: Host) -> None:
    seed.run(seed.instance(host, "smol", State.ready), 1)
    assert runs.latest(host.id + 1) is None
