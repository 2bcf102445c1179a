"""One scrape as it is kept: raw counters and histograms of one instance at one moment, added up over its engines."""

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from console.metrics.scrape import Bucket, Histogram, Scrape

COUNTERS = (
    "prompt_tokens_total",
    "generation_tokens_total",
    "preemptions_total",
    "prefix_queries_total",
    "prefix_hits_total",
    "draft_tokens_total",
    "accepted_tokens_total",
)
LATENCIES = ("ttft", "inter_token", "e2e", "queue")


@dataclass(frozen=True)
class StoredScrape:
    """What an instance said at `time` (Unix seconds) in its start number `attempt`; read from `body` when asked for.

    Attributes that the engine did not give are None. Counters and histograms count since the engine's start.
    """

    time: float
    attempt: int
    body: str

    @functools.cached_property
    def values(self) -> Mapping[str, object]:
        read = json.loads(self.body)
        return read if isinstance(read, dict) else {}

    @property
    def cut(self) -> bool:
        """Whether the text was cut off, so that a figure it lacks may still exist."""
        return bool(self.values.get("cut"))

    def number(self, figure: str) -> float | None:
        """`running`, `waiting`, `start` (Unix time of the engine's process) or one of `COUNTERS`."""
        value = self.values.get(figure)
        return value if isinstance(value, int | float) else None

    @functools.cached_property
    def kv_cache_usage(self) -> Mapping[str, float]:
        """0..1 by engine label; "" stands for an engine without a label."""
        return self._mapping("kv")

    @functools.cached_property
    def success(self) -> Mapping[str, float]:
        """Finished requests by reason."""
        return self._mapping("success")

    @functools.cached_property
    def histograms(self) -> Mapping[str, Histogram]:
        """By name in `LATENCIES`, in seconds. Buckets that say nothing are left out, see `body_of`."""
        return {figure: _histogram(self.values[figure]) for figure in LATENCIES if figure in self.values}

    def _mapping(self, figure: str) -> Mapping[str, float]:
        value = self.values.get(figure)
        return value if isinstance(value, dict) else {}


def body_of(scrape: Scrape) -> str:
    """Compact JSON of what charts and summaries need; a figure the scrape lacks is left out.

    Of a histogram the buckets from the last empty one to the first that holds everything are kept: the ones below
    hold nothing, the ones above everything, and so neither a count nor a percentile changes.
    """
    values: dict[str, object] = {
        "start": scrape.process_start_time,
        "cut": any(line.cut for line in scrape.dropped) or None,
        "running": _short(scrape.running),
        "waiting": _short(scrape.waiting),
        "kv": {e.engine or "": e.kv_cache_usage for e in scrape.engines if e.kv_cache_usage is not None} or None,
        "success": {reason: _short(count) for reason, count in scrape.success.items()} or None,
    }
    values |= {figure: _short(scrape.total(figure)) for figure in COUNTERS}
    values |= {figure: _listed(scrape.histogram(figure)) for figure in LATENCIES}
    known = {figure: value for figure, value in values.items() if value is not None}
    return json.dumps(known, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _histogram(value: object) -> Histogram:
    assert isinstance(value, list)
    metric, count, total, buckets = value
    finite = (Bucket(le, cumulative) for le, cumulative in buckets)
    return Histogram(metric, count, total, (*finite, Bucket(math.inf, count)))


def _listed(histogram: Histogram | None) -> list[object] | None:
    if histogram is None:
        return None
    finite = [bucket for bucket in histogram.buckets if math.isfinite(bucket.le)]
    empty = sum(bucket.cumulative <= 0 for bucket in finite)
    part = sum(bucket.cumulative < histogram.count for bucket in finite)
    telling = finite[max(empty - 1, 0) : part + 1]
    buckets = [[_short(bucket.le), _short(bucket.cumulative)] for bucket in telling]
    return [histogram.metric, _short(histogram.count), histogram.sum, buckets]


def _short(value: float | None) -> float | int | None:
    """3 instead of 3.0: half of a row is counters."""
    return int(value) if value is not None and value == int(value) else value
