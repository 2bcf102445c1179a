"""What one answer of /metrics held, engine by engine; a figure that was not in it is None, never 0."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Bucket(NamedTuple):
    """How many observations were `le` or less, since the engine started."""

    le: float
    cumulative: float


@dataclass(frozen=True)
class Histogram:
    """Observations since the engine started. `buckets` ascend in `le` up to +Inf; `sum` is in the unit observed."""

    metric: str
    count: float
    sum: float
    buckets: tuple[Bucket, ...] = ()


@dataclass(frozen=True)
class Engine:
    """One engine of a server: one per data-parallel rank; `engine` is None where vLLM gave no engine label.

    Cache usages and the hit rate lie within 0..1, counters ending in `_total` count since the start of the engine.
    """

    engine: str | None
    running: float | None = None
    waiting: float | None = None
    swapped: float | None = None
    kv_cache_usage: float | None = None
    cpu_cache_usage: float | None = None
    prompt_tokens_total: float | None = None
    generation_tokens_total: float | None = None
    preemptions_total: float | None = None
    prefix_queries_total: float | None = None
    prefix_hits_total: float | None = None
    prefix_hit_rate: float | None = None
    avg_prompt_tps: float | None = None
    avg_generation_tps: float | None = None
    draft_tokens_total: float | None = None
    accepted_tokens_total: float | None = None
    success: Mapping[str, float] = field(default_factory=dict)
    sleep_state: str | None = None
    ttft: Histogram | None = None
    inter_token: Histogram | None = None
    e2e: Histogram | None = None
    queue: Histogram | None = None
    iteration_tokens: Histogram | None = None


@dataclass(frozen=True)
class Dropped:
    """A line that could not be used: its number from 1, its first 120 characters, and whether it was cut off."""

    number: int
    line: str
    cut: bool = False


@dataclass(frozen=True)
class Scrape:
    """Everything one answer of /metrics says. `process_start_time` is Unix time in seconds; `block_size` in tokens."""

    engines: tuple[Engine, ...] = ()
    models: tuple[str, ...] = ()
    num_gpu_blocks: int | None = None
    block_size: int | None = None
    process_start_time: float | None = None
    dropped: tuple[Dropped, ...] = ()

    def total(self, figure: str) -> float | None:
        """Sum of one figure over the engines; None if any engine does not give it."""
        values = [getattr(engine, figure) for engine in self.engines]
        return None if not values or None in values else sum(values)

    def histogram(self, figure: str) -> Histogram | None:
        """One histogram added up over the engines; None if any engine does not give it."""
        return add([getattr(engine, figure) for engine in self.engines])

    @property
    def running(self) -> float | None:
        return self.total("running")

    @property
    def waiting(self) -> float | None:
        return self.total("waiting")

    @property
    def kv_cache_usage(self) -> float | None:
        """The fullest engine's usage, 0..1: usages of different engines do not add up."""
        return max((e.kv_cache_usage for e in self.engines if e.kv_cache_usage is not None), default=None)

    @property
    def sleep_state(self) -> str | None:
        """`awake` only if every engine says so, else the state of the first engine that sleeps."""
        states = [engine.sleep_state for engine in self.engines if engine.sleep_state is not None]
        return next((state for state in states if state != "awake"), states[0] if states else None)

    @property
    def success(self) -> Mapping[str, float]:
        """Finished requests by reason, over all engines."""
        counts: dict[str, float] = {}
        for engine in self.engines:
            for reason, count in engine.success.items():
                counts[reason] = counts.get(reason, 0) + count
        return counts


def add(histograms: Sequence[Histogram | None]) -> Histogram | None:
    """One histogram of all observations; None if one of them is unknown or their buckets differ."""
    known = [histogram for histogram in histograms if histogram is not None]
    bounds = {tuple(bucket.le for bucket in histogram.buckets) for histogram in known}
    if len(known) != len(histograms) or len(bounds) != 1:
        return None
    counts = zip(*([bucket.cumulative for bucket in histogram.buckets] for histogram in known), strict=True)
    buckets = tuple(Bucket(le, sum(parts)) for le, parts in zip(bounds.pop(), counts, strict=True))
    return Histogram(known[0].metric, sum(h.count for h in known), sum(h.sum for h in known), buckets)
