"""The route behind the live charts: only new points, no spike where something is missing, a sentence when it cannot."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import plotly
import pytest
from starlette.applications import Starlette

from console.metrics.exposition import parse
from console.metrics.store import Samples
from console.surface.live_chart import LABELS, SCRIPT, SERIES, routes
from tests.metrics.engine import PretendedEngine

Get = Callable[..., httpx.Response]
ALL = {f"{name}_{share}" for name in ("ttft", "inter_token", "e2e") for share in ("p50", "p95", "p99")}
ALL |= {"t", "generation", "prompt", "running", "waiting", "kv"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "samples.sqlite"


@pytest.fixture
def get(path: Path) -> Get:
    return asking(path, time.time)


def asking(path: Path, now: Callable[[], float]) -> Get:
    application = Starlette(routes=routes(lambda: path, now))

    def ask(address: str = SERIES, **parameters: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(application)
            async with httpx.AsyncClient(transport=transport, base_url="http://console") as client:
                return await client.get(address, params=parameters)

        return asyncio.run(asked())

    return ask


def fill(path: Path, engine: PretendedEngine, ages: range, attempt: int = 1, now: float | None = None) -> None:
    """One scrape at each age (seconds before now), a request ending before each."""
    now = time.time() if now is None else now
    with Samples(path) as samples:
        for age in ages:
            engine.finish(0.3)
            samples.append(1, now - age, attempt, parse(engine.text()))


def test_before_anything_was_measured_there_are_no_points(path: Path, get: Get) -> None:
    answer = get(instance=1, minutes=5).json()
    assert (answer["series"], answer["last"], answer["reset"]) == ({}, None, True)
    assert not path.exists()


def test_all_lines_of_a_window_come_at_first(path: Path, get: Get) -> None:
    fill(path, PretendedEngine(running=1), range(600, 0, -2))
    answer = get(instance=1, minutes=5).json()
    assert set(answer["series"]) == ALL
    assert 145 <= len(answer["series"]["t"]) <= 151
    assert {len(values) for values in answer["series"].values()} == {len(answer["series"]["t"])}
    assert answer["series"]["generation"][-1] == pytest.approx(5, rel=0.01)
    assert None not in answer["series"]["ttft_p99"]
    assert (answer["step"], answer["window"], answer["at_least"]) == (2, 15, {})


def test_then_only_what_is_newer_in_few_bytes(path: Path, get: Get) -> None:
    engine = PretendedEngine(running=1)
    fill(path, engine, range(100, 0, -2))
    first = get(instance=1).json()
    last = first["series"]["t"][-1]
    quiet = get(instance=1, after=last)
    assert quiet.json()["series"] == {}
    assert len(quiet.content) < 120
    fill(path, engine, range(0, -1, -2))
    tick = get(instance=1, after=last)
    assert not tick.json()["reset"]
    assert [len(values) for values in tick.json()["series"].values()] == [1] * len(ALL)
    assert len(tick.content) < 600


def test_points_that_come_one_by_one_are_those_that_come_at_once(path: Path, get: Get) -> None:
    engine = PretendedEngine()
    fill(path, engine, range(120, 80, -2))
    fill(path, engine, range(60, 30, -2))
    fill(path, PretendedEngine(start=5), range(30, 0, -2), attempt=2)
    at_once = get(instance=1).json()["series"]
    middle = at_once["t"][17]
    later = get(instance=1, after=middle).json()["series"]
    assert later["t"] == at_once["t"][18:]
    assert later["generation"] == at_once["generation"][18:]
    holes = [place for place, value in enumerate(at_once["running"]) if value is None]
    assert len(holes) == 2


def test_a_reader_from_before_the_window_starts_anew(path: Path, get: Get) -> None:
    fill(path, PretendedEngine(), range(600, 0, -2))
    for after in (time.time() - 400, time.time() + 900):
        answer = get(instance=1, minutes=5, after=after).json()
        assert answer["reset"]
        assert len(answer["series"]["t"]) > 140


def test_a_long_window_is_thinned_and_stays_so_while_it_grows(path: Path) -> None:
    clock = [time.time() // 7.5 * 7.5 + 5]  # the last scrape, two seconds before, lies in a stretch that still runs
    fill(path, PretendedEngine(), range(3600, 0, -7), now=clock[0])
    get = asking(path, lambda: clock[0])
    answer = get(instance=1, minutes=60).json()
    times = answer["series"]["t"]
    assert answer["step"] == 7.5
    assert 400 < len(times) <= 500
    assert len(get(instance=1, minutes=60, after=times[-1]).json()["series"]) == 0
    clock[0] += 7.5  # one more stretch is whole: it brings one more point, and the others stay as they were
    assert len(get(instance=1, minutes=60, after=times[-1]).json()["series"]["t"]) == 1
    assert get(instance=1, minutes=60).json()["series"]["t"][-2] == times[-1]


def test_a_latency_beyond_the_last_bucket_is_marked(path: Path, get: Get) -> None:
    engine = PretendedEngine()
    now = time.time()
    with Samples(path) as samples:
        samples.append(1, now - 20, 1, parse(engine.text()))
        engine.finish(ttft=99)
        samples.append(1, now - 16, 1, parse(engine.text()))
        samples.append(1, now - 12, 1, parse(engine.text()))
        samples.append(1, now - 6, 1, parse(engine.text()))
        samples.append(1, now - 2, 1, parse(engine.text()))
    answer = get(instance=1).json()
    marked = answer["at_least"]["ttft_p50"]
    assert marked
    assert {answer["series"]["ttft_p50"][place] for place in marked} == {10}


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"instance": "x"},
        {"instance": "-1"},
        {"instance": "9" * 30},
        {"instance": 1, "minutes": 0},
        {"instance": 1, "minutes": 10**6},
        {"instance": 1, "minutes": "1.5"},
        {"instance": 1, "after": "yesterday"},
        {"instance": 1, "after": "nan"},
        {"instance": 1, "after": "inf"},
    ],
)
def test_a_wrong_question_is_refused_with_a_sentence(get: Get, parameters: dict[str, Any]) -> None:
    answer = get(**parameters)
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(".")


def test_a_damaged_file_is_told_and_not_drawn_as_silence(path: Path, get: Get) -> None:
    path.write_bytes(b"no database at all" * 100)
    answer = get(instance=1)
    assert answer.status_code == 503
    assert "damaged" in answer.json()["error"]


def test_the_chart_script_is_the_one_of_the_installed_package(get: Get) -> None:
    answer = get(SCRIPT)
    assert answer.content == (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_bytes()
    assert "immutable" in answer.headers["cache-control"]
    assert get("/pilot/static/../widgetbundle.js").status_code == 404


def test_every_label_the_script_asks_for_is_there() -> None:
    script = (Path(__file__).parents[2] / "assets" / "live_chart.js").read_text(encoding="utf-8")
    for name in LABELS:
        assert name in script, name
    assert all("%time" in str(LABELS[name]) for name in ("no_answer", "stale"))
