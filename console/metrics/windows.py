"""From stored scrapes to what a chart shows: rates and percentiles over sliding windows, gaps where nothing is known.

The point at time t describes the window (t - w, t], w being `WINDOW_S` = 15 seconds unless said otherwise: the scrape
at t minus the last scrape at or before t - w (half a scrape interval of lateness is forgiven). What happened in it is
a difference of counters; running, waiting and cache usage are what the scrape at t says.

A value is None, which a chart shows as a gap, when the window has no beginning in the record, when no request ended in
it, and when a restart of the engine or a hole of more than three scrape intervals lies in it: never 0, never a spike.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from console.metrics.scrape import Bucket, Histogram
from console.metrics.stored import COUNTERS, LATENCIES, StoredScrape

INTERVAL_S = 2.0
"""Seconds between two scrapes of one instance."""
WINDOW_S = 15.0
HOLE = 3
"""Scrape intervals without a scrape that make a hole."""
POINTS = 500
SPACINGS_S = (3.75, 5, 7.5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200)
QUANTILES: Mapping[str, float] = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
CHARTED = ("ttft", "inter_token", "e2e")


@dataclass(frozen=True)
class Quantile:
    """Seconds, exact to one bucket; with `at_least` the true value is that or more."""

    value: float
    at_least: bool = False


@dataclass(frozen=True)
class Point:
    """One instance at one moment; latencies in seconds, rates in tokens per second, `kv_cache_usage` 0..1.

    `latency` maps each of `CHARTED` to one quantile per name in `QUANTILES`, or to None when no request gave one.
    """

    time: float
    latency: Mapping[str, Mapping[str, Quantile] | None]
    generation_rate: float | None = None
    prompt_rate: float | None = None
    running: float | None = None
    waiting: float | None = None
    kv_cache_usage: float | None = None


NO_LATENCY: Mapping[str, None] = dict.fromkeys(CHARTED)


@dataclass(frozen=True)
class Latency:
    """`count` observations within a window: their mean and quantiles in seconds, None when there were none."""

    count: float
    mean: float | None
    quantiles: Mapping[str, Quantile]


@dataclass(frozen=True)
class Summary:
    """A whole window in figures; `seconds` is the time observed, without holes and restarts."""

    seconds: float
    latency: Mapping[str, Latency]
    counted: Mapping[str, float | None]
    requests: Mapping[str, float]
    generation_rate: float | None
    prompt_rate: float | None


def quantile(buckets: Sequence[Bucket], q: float) -> Quantile | None:
    """The value that a share `q` (0 < q <= 1) of the observations did not exceed; None without observations.

    p50 (the median) is q = 0.5: half of the observations took that long or less. p95 is q = 0.95: one in twenty took
    longer. p99 is q = 0.99: one in a hundred took longer, so with fewer than 100 observations it is about the maximum.

    `buckets` hold (le, observations of le or less) with `le` ascending up to +Inf, as differences of two scrapes.
    Computed as Prometheus' histogram_quantile does: find the bucket in which the share is reached and interpolate
    linearly within it, taking 0 as the lower end of the first one. So the result lies in the same bucket as the true
    value and is off by at most the width of that bucket. In the +Inf bucket the width is unknown: the result
    is the highest finite bound, marked `at_least`.
    """
    if not 0 < q <= 1:
        raise ValueError(f"a quantile lies in (0, 1], not {q}")
    if len(buckets) < 2 or buckets[-1].cumulative <= 0:
        return None
    rank = q * buckets[-1].cumulative
    low, below = 0.0, 0.0
    for le, cumulative in buckets:
        if cumulative >= rank:
            break
        low, below = le, max(below, cumulative)
    if math.isinf(le):
        return Quantile(buckets[-2].le, at_least=True)
    if le <= 0 or cumulative <= below:
        return Quantile(le)
    return Quantile(low + (le - low) * (rank - below) / (cumulative - below))


def spacing(seconds: float, interval: float = INTERVAL_S) -> float:
    """Seconds between points so that a span of `seconds` has at most `POINTS`; 0 means that every scrape fits."""
    wanted = seconds / POINTS
    if wanted <= interval:
        return 0
    return next((step for step in SPACINGS_S if step >= wanted), math.ceil(wanted / 3600) * 3600.0)


def series(scrapes: Sequence[StoredScrape], window: float = WINDOW_S, interval: float = INTERVAL_S) -> Iterator[Point]:
    """One point per scrape, oldest first, and one that knows nothing wherever a hole or a restart lies between two.

    `interval` is the usual number of seconds between two of `scrapes`.
    """
    times = [scrape.time for scrape in scrapes]
    begin = 0
    for at, scrape in enumerate(scrapes):
        if at and _broken(scrapes[at - 1], scrape, interval):
            yield Point(scrapes[at - 1].time + min(interval, scrape.time - scrapes[at - 1].time) / 2, NO_LATENCY)
            begin = at
        start = bisect_right(times, scrape.time - window + interval / 2, begin, at) - 1
        yield _point(scrapes[start] if start >= begin else None, scrape)


def summary(scrapes: Sequence[StoredScrape], interval: float = INTERVAL_S) -> Summary:
    """All that happened between the first and the last of `scrapes`, restarts and holes left out."""
    spans = list(_unbroken([scrape for scrape in scrapes if not scrape.cut], interval))
    seconds = sum(last.time - first.time for first, last in spans)
    counted = {figure: _known_sum(_rise(first, last, figure) for first, last in spans) for figure in COUNTERS}
    differences = {figure: [_difference(first, last, figure) for first, last in spans] for figure in LATENCIES}
    return Summary(
        seconds=seconds,
        latency={figure: _latency(found) for figure, found in differences.items()},
        counted=counted,
        requests=_requests(spans),
        generation_rate=_rate(counted["generation_tokens_total"], seconds),
        prompt_rate=_rate(counted["prompt_tokens_total"], seconds),
    )


def _point(first: StoredScrape | None, last: StoredScrape) -> Point:
    """What `last` says, and what happened since `first` if that is known."""
    now = Point(
        time=last.time,
        latency=NO_LATENCY,
        running=last.number("running"),
        waiting=last.number("waiting"),
        kv_cache_usage=max(last.kv_cache_usage.values(), default=None),
    )
    if first is None:
        return now
    seconds = last.time - first.time
    return replace(
        now,
        latency={figure: _quantiles(_difference(first, last, figure)) for figure in CHARTED},
        generation_rate=_rate(_rise(first, last, "generation_tokens_total"), seconds),
        prompt_rate=_rate(_rise(first, last, "prompt_tokens_total"), seconds),
    )


def _broken(before: StoredScrape, after: StoredScrape, interval: float) -> bool:
    """Whether a difference between the two would not be what happened between them."""
    if after.time - before.time > HOLE * interval or before.attempt != after.attempt:
        return True
    starts, engines = (before.number("start"), after.number("start")), (before.kv_cache_usage, after.kv_cache_usage)
    if None not in starts and starts[0] != starts[1]:
        return True
    if all(engines) and engines[0].keys() != engines[1].keys():
        return True
    falls = (_rise(before, after, figure) for figure in COUNTERS)
    counts = ((before.histograms.get(figure), after.histograms.get(figure)) for figure in CHARTED)
    return any(fall is not None and fall < 0 for fall in falls) or any(a and b and b.count < a.count for a, b in counts)


def _unbroken(scrapes: Sequence[StoredScrape], interval: float) -> Iterator[tuple[StoredScrape, StoredScrape]]:
    """First and last of each stretch of two and more scrapes without a restart or a hole."""
    begin = 0
    for at in range(1, len(scrapes) + 1):
        if at == len(scrapes) or _broken(scrapes[at - 1], scrapes[at], interval):
            if at - begin > 1:
                yield scrapes[begin], scrapes[at - 1]
            begin = at


def _difference(first: StoredScrape, last: StoredScrape, figure: str) -> Histogram | None:
    """The observations between the two. A histogram that is not there yet had none: it appears with the first one."""
    before, after = first.histograms.get(figure), last.histograms.get(figure)
    if after is None or (before is None and first.cut):
        return None
    before = before or Histogram(after.metric, 0, 0)
    buckets = tuple(Bucket(le, cumulative - _up_to(before, le)) for le, cumulative in after.buckets)
    return Histogram(after.metric, after.count - before.count, after.sum - before.sum, buckets)


def _up_to(histogram: Histogram, le: float) -> float:
    """Observations of `le` or less; buckets left out below the first held none, those above the last finite one all."""
    at = bisect_right(histogram.buckets, le, key=lambda bucket: bucket.le)
    return histogram.buckets[at - 1].cumulative if at else 0


def _quantiles(histogram: Histogram | None) -> Mapping[str, Quantile] | None:
    if histogram is None:
        return None
    found = {name: quantile(histogram.buckets, q) for name, q in QUANTILES.items()}
    return {name: value for name, value in found.items() if value is not None} or None


def _latency(parts: Sequence[Histogram | None]) -> Latency:
    known = [part for part in parts if part is not None]
    bounds = sorted({bucket.le for part in known for bucket in part.buckets})
    buckets = [Bucket(le, sum(_up_to(part, le) for part in known)) for le in bounds]
    count = sum(part.count for part in known)
    mean = sum(part.sum for part in known) / count if count else None
    return Latency(count, mean, _quantiles(Histogram("", count, 0, tuple(buckets))) or {})


def _requests(spans: Sequence[tuple[StoredScrape, StoredScrape]]) -> Mapping[str, float]:
    """Finished requests by reason. A reason that is not there yet had none: vLLM adds it with the first one."""
    found: dict[str, float] = {}
    for first, last in spans:
        for reason, count in last.success.items():
            found[reason] = found.get(reason, 0) + count - first.success.get(reason, 0)
    return found


def _rise(first: StoredScrape, last: StoredScrape, figure: str) -> float | None:
    before, after = first.number(figure), last.number(figure)
    return None if before is None or after is None else after - before


def _rate(amount: float | None, seconds: float) -> float | None:
    return None if amount is None or seconds <= 0 else amount / seconds


def _known_sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
