"""What a vLLM server says of itself on /metrics, from Prometheus text to one value per engine and figure.

A figure the text does not hold is None, never 0. Names follow the metric definitions of vLLM 0.6 to 0.33
(vllm/v1/metrics/loggers.py, before that vllm/engine/metrics.py); a renamed metric is one more name in a table.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from console.metrics.scrape import Bucket, Dropped, Engine, Histogram, Scrape

NUMBERS: Mapping[str, tuple[str, ...]] = {
    "running": ("vllm:num_requests_running",),
    "waiting": ("vllm:num_requests_waiting",),
    "swapped": ("vllm:num_requests_swapped",),
    "kv_cache_usage": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    "cpu_cache_usage": ("vllm:cpu_cache_usage_perc",),
    "prompt_tokens_total": ("vllm:prompt_tokens_total",),
    "generation_tokens_total": ("vllm:generation_tokens_total",),
    "preemptions_total": ("vllm:num_preemptions_total",),
    "prefix_queries_total": ("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"),
    "prefix_hits_total": ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"),
    "prefix_hit_rate": ("vllm:gpu_prefix_cache_hit_rate",),
    "avg_prompt_tps": ("vllm:avg_prompt_throughput_toks_per_s",),
    "avg_generation_tps": ("vllm:avg_generation_throughput_toks_per_s",),
    "draft_tokens_total": ("vllm:spec_decode_num_draft_tokens_total",),
    "accepted_tokens_total": ("vllm:spec_decode_num_accepted_tokens_total",),
}
"""Figure -> its names over vLLM versions, newest first; the first one found counts."""

HISTOGRAMS: Mapping[str, tuple[str, ...]] = {
    "ttft": ("vllm:time_to_first_token_seconds",),
    "inter_token": ("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
    "e2e": ("vllm:e2e_request_latency_seconds",),
    "queue": ("vllm:request_queue_time_seconds",),
    "iteration_tokens": ("vllm:iteration_tokens_total",),
}
"""Figure -> its names, newest first. `iteration_tokens_total` is a histogram in spite of its name."""

SUCCESS = "vllm:request_success_total"
SLEEP = "vllm:engine_sleep_state"
CACHE = "vllm:cache_config_info"
START = "process_start_time_seconds"
RATIOS = frozenset({"kv_cache_usage", "cpu_cache_usage", "prefix_hit_rate"})

_ENDINGS = ("_bucket", "_count", "_sum")
_WANTED = frozenset(
    [SUCCESS, SLEEP, CACHE, START]
    + [name for names in NUMBERS.values() for name in names]
    + [name + ending for names in HISTOGRAMS.values() for name in names for ending in _ENDINGS]
)
_SAMPLE_LINE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\s*\{.*\}\s*|\s+)\S+(?:\s+-?\d+)?")


def parse(text: str) -> Scrape:
    """Understand what is sound in `text` and report the rest in `dropped`. Never raises.

    A text that does not end with a line break was cut: its last line goes, for half a number looks like a number.
    """
    samples, dropped = _samples(text)
    by_engine: dict[str | None, _Found] = defaultdict(_Found)
    models: dict[str, None] = {}
    scrape_wide: dict[str, list[Sample]] = {START: [], CACHE: []}
    for sample in samples:
        if model := sample.labels.get("model_name"):
            models[model] = None
        if sample.name in scrape_wide:
            scrape_wide[sample.name].append(sample)
        else:
            by_engine[sample.labels.get("engine")].take(sample)
    return Scrape(
        engines=tuple(by_engine[label].engine(label) for label in sorted(by_engine, key=_rank)),
        models=tuple(models),
        num_gpu_blocks=_smallest(scrape_wide[CACHE], "num_gpu_blocks"),
        block_size=_smallest(scrape_wide[CACHE], "block_size"),
        process_start_time=next((sample.value for sample in scrape_wide[START]), None),
        dropped=tuple(dropped),
    )


def _samples(text: str) -> tuple[list[Sample], list[Dropped]]:
    """The samples this module has a use for, and the lines that are no samples at all."""
    samples: list[Sample] = []
    dropped: list[Dropped] = []
    lines = text.split("\n")
    cut = len(lines) if lines[-1].strip() else None
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if not line or (line.startswith("#") and number != cut):
            continue
        shape = _SAMPLE_LINE.fullmatch(line)
        if number == cut or shape is None:
            dropped.append(Dropped(number, line[:120], cut=number == cut))
        # The parser takes 60 microseconds a line, so it only sees the lines that are needed.
        elif shape[1] in _WANTED:
            read = _read(line)
            samples.extend(read)
            dropped.extend([] if read else [Dropped(number, line[:120])])
    return samples, dropped


def _read(line: str) -> list[Sample]:
    try:
        samples = [sample for family in text_string_to_metric_families(line) for sample in family.samples]
        return [sample for sample in samples if math.isfinite(sample.value)]
    except (ValueError, IndexError, OverflowError):
        return []


class _Found:
    """The samples of one engine, by figure, until they are all read."""

    def __init__(self) -> None:
        self.numbers: dict[str, list[float]] = defaultdict(list)
        self.success: dict[str, float] = {}
        self.buckets: dict[str, dict[float, float]] = defaultdict(dict)
        self.sleep_state: str | None = None

    def take(self, sample: Sample) -> None:
        name, labels, value = sample.name, sample.labels, float(sample.value)
        if name == SUCCESS:
            reason = labels.get("finished_reason", "")
            self.success[reason] = self.success.get(reason, 0) + value
        elif name == SLEEP:
            self.sleep_state = labels.get("sleep_state") if value == 1 else self.sleep_state
        elif name.endswith("_bucket"):
            if (le := _bound(labels.get("le", ""))) is not None:
                counts = self.buckets[name.removesuffix("_bucket")]
                counts[le] = counts.get(le, 0) + value
        else:
            self.numbers[name].append(value)

    def engine(self, label: str | None) -> Engine:
        numbers = {figure: self.number(figure, names) for figure, names in NUMBERS.items()}
        histograms = {figure: self.histogram(names) for figure, names in HISTOGRAMS.items()}
        if numbers["prefix_hit_rate"] == -1:  # vLLM's way of saying that nothing was looked up yet
            numbers["prefix_hit_rate"] = None
        return Engine(engine=label, success=self.success, sleep_state=self.sleep_state, **numbers, **histograms)  # type: ignore[arg-type]

    def number(self, figure: str, names: Iterable[str]) -> float | None:
        for name in names:
            if values := self.numbers.get(name):
                return max(values) if figure in RATIOS else sum(values)
        return None

    def histogram(self, names: Iterable[str]) -> Histogram | None:
        """The first of `names` that is complete: count, sum and the +Inf bucket are all there and agree."""
        for name in names:
            count, total = self.numbers.get(name + "_count"), self.numbers.get(name + "_sum")
            buckets = tuple(Bucket(le, n) for le, n in sorted(self.buckets.get(name, {}).items()))
            if count and total and (not buckets or buckets[-1] == Bucket(math.inf, sum(count))):
                return Histogram(name, sum(count), sum(total), buckets)
        return None


def _bound(words: str) -> float | None:
    try:
        bound = float(words)
    except ValueError:
        return None
    return None if math.isnan(bound) else bound


def _smallest(samples: Iterable[Sample], label: str) -> int | None:
    """vLLM writes the word None where it does not know; engines may differ, the smallest limits."""
    words = [sample.labels.get(label, "") for sample in samples]
    return min((int(word) for word in words if word.isascii() and word.isdigit()), default=None)


def _rank(label: str | None) -> tuple[int, str]:
    return (-1, "") if label is None else (int(label), label) if label.isdecimal() else (10**9, label)
