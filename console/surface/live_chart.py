"""Live charts of one instance: panels in the browser that fetch new points from a route of the same server.

A tick is one small request that runs no page: it reads the samples file and nothing else. The panels share it.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import plotly
import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse
from starlette.routing import BaseRoute, Route

from console.errors import DataError, InvalidInput
from console.metrics.store import Samples
from console.metrics.windows import INTERVAL_S, WINDOW_S, Point, series, spacing
from console.text import LANGUAGES, Text, render, say

ROOT = Path(__file__).resolve().parent.parent.parent
SERIES = "/pilot/series"
SCRIPT = "/pilot/static/plotly.min.js"
LONGEST_MINUTES = 31 * 24 * 60

LABELS: Mapping[str, Text] = {
    "ttft": say("Time to first token"),
    "inter_token": say("Time between tokens"),
    "e2e": say("Whole request"),
    "tokens": say("Tokens per second"),
    "requests": say("Requests"),
    "kv": say("KV cache in use"),
    "generation": say("generated"),
    "prompt": say("prompt"),
    "running": say("running"),
    "waiting": say("waiting"),
    "used": say("used"),
    "second": say("s"),
    "millisecond": say("ms"),
    "per_second": say("tokens/s"),
    "no_request": say("No request finished in this window."),
    "no_sample": say("Nothing was measured in this window."),
    "no_answer": say("No answer from the console since %time."),
    "stale": say("The engine was last measured at %time."),
    "zoomed": say("Zoomed: double-click to follow again."),
    "no_script": say("The chart script could not be loaded from the console. Reload the page."),
    "loading": say("Loading…"),
}
"""What the panels say; `%time` is filled in the browser, in the reader's time zone."""

_PANELS = st.components.v2.component(
    "pilot_live_charts",
    html='<div class="pilot-live"></div>\n',
    css=(ROOT / "assets" / "live_chart.css").read_text(encoding="utf-8"),
    js=(ROOT / "assets" / "live_chart.js").read_text(encoding="utf-8"),
    isolate_styles=False,  # inside a shadow root Plotly's own style sheet does not apply
)


def live_charts(instance_id: int, minutes: int, labels: Mapping[str, str], key: str, language: str = "en") -> None:
    """Draw six panels: three latencies with p50, p95 and p99, tokens per second, requests, KV cache.

    They show the last `minutes` and keep themselves up to date until the page is left. `labels` are `LABELS` in the
    reader's language; `language` is for what the server answers when it cannot give points.
    """
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    prefix = f"/{base}" if base else ""
    _PANELS(
        key=key,
        data={
            "series": prefix + SERIES,
            "script": f"{prefix}{SCRIPT}?v={plotly.__version__}",
            "instance": instance_id,
            "minutes": minutes,
            "language": language,
            "labels": {name: labels[name] for name in LABELS},
        },
    )


def routes(samples: Callable[[], Path], now: Callable[[], float] = time.time) -> list[BaseRoute]:
    """What the web server has to answer for the panels; `samples` gives the path of the samples file."""

    def points(request: Request) -> JSONResponse:
        language = request.query_params.get("language", "en")
        try:
            instance, minutes, after = _asked(request.query_params)
            answer = _points(samples(), instance, minutes, after, now())
            return JSONResponse(answer, headers={"Cache-Control": "no-store"})
        except (InvalidInput, DataError) as error:
            sentence = render(error.text, language if language in LANGUAGES else "en")
            return JSONResponse({"error": sentence}, status_code=400 if isinstance(error, InvalidInput) else 503)

    def script(_: Request) -> FileResponse:
        # From the installed package, so that nothing is ever fetched from elsewhere. Its address names the version.
        path = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
        return FileResponse(path, headers={"Cache-Control": "private, max-age=31536000, immutable"})

    return [Route(SERIES, points, methods=["GET"]), Route(SCRIPT, script, methods=["GET"])]


def _asked(parameters: Mapping[str, str]) -> tuple[int, int, float | None]:
    """Instance, minutes and the time after which points are wanted, or None for all of them."""
    instance, minutes = parameters.get("instance", ""), parameters.get("minutes", "5")
    if not _whole(instance) or not _whole(minutes) or not 1 <= int(minutes) <= LONGEST_MINUTES:
        raise InvalidInput(
            say("Give an instance number and between 1 and {most} minutes, as whole numbers.", most=LONGEST_MINUTES)
        )
    try:
        after = float(parameters["after"]) if parameters.get("after") else None
    except ValueError:
        after = math.nan
    if after is not None and not math.isfinite(after):
        raise InvalidInput(say("`after` must be a time in seconds since 1970."))
    return int(instance), int(minutes), after


def _whole(words: str) -> bool:
    return words.isascii() and words.isdigit() and len(words) < 12


def _points(path: Path, instance: int, minutes: int, after: float | None, now: float) -> dict[str, object]:
    """What `/pilot/series` answers: only points newer than `after`; with `reset` the reader forgets older ones."""
    start = now - minutes * 60
    known = after is not None and start <= after <= now + 60
    since = after if known and after is not None else start
    thinned = spacing(minutes * 60)
    step = thinned or INTERVAL_S
    window = max(WINDOW_S, thinned)
    scrapes, last = [], None
    if path.exists():
        with Samples(path) as samples:
            scrapes = samples.between(instance, since - window - 2 * step, now, thinned)
            last = samples.last(instance)
    new = [point for point in series(scrapes, window, step) if round(point.time, 3) > since]
    return {
        "now": round(now, 3),
        "last": last and round(last.time, 3),
        "step": step,
        "window": window,
        "reset": not known,
        "series": _columns(new),
        "at_least": _open_ended(new),
    }


def _columns(points: list[Point]) -> dict[str, list[float | None]]:
    """One list per line, `t` being the times; a line that knows nothing in all of them is left out."""
    columns: dict[str, Iterable[float | None]] = {"t": [round(point.time, 3) for point in points]}
    for name in ("ttft", "inter_token", "e2e"):
        for share in ("p50", "p95", "p99"):
            found = ((point.latency[name] or {}).get(share) for point in points)
            columns[f"{name}_{share}"] = [None if quantile is None else _short(quantile.value) for quantile in found]
    columns["generation"] = [_short(point.generation_rate) for point in points]
    columns["prompt"] = [_short(point.prompt_rate) for point in points]
    columns["running"] = [point.running for point in points]
    columns["waiting"] = [point.waiting for point in points]
    columns["kv"] = [_short(point.kv_cache_usage) for point in points]
    listed = {name: list(values) for name, values in columns.items()}
    return {name: values for name, values in listed.items() if any(value is not None for value in values)}


def _open_ended(points: list[Point]) -> dict[str, list[int]]:
    """Line -> places in it where the true value may be higher, for it lies beyond the last bucket."""
    found: dict[str, list[int]] = {}
    for place, point in enumerate(points):
        for name, quantiles in point.latency.items():
            for share, quantile in (quantiles or {}).items():
                if quantile.at_least:
                    found.setdefault(f"{name}_{share}", []).append(place)
    return found


def _short(value: float | None) -> float | None:
    """Four digits: more are not true, and they are most of the bytes of a tick."""
    return None if value is None else float(f"{value:.4g}")
