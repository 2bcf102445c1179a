"""The /metrics of the pretended vLLM server: real names, labels and buckets, numbers that move with its requests."""

import bisect
import threading
import time
from dataclasses import dataclass, field

STARTED = time.time()
TTFT = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0)
TTFT += (160.0, 640.0, 2560.0)
TOKEN = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0)
REQUEST = (0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0)
REQUEST += (960.0, 1920.0, 7680.0)
SIZES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0)
HISTOGRAMS = {
    "vllm:time_to_first_token_seconds": ("Histogram of time to first token in seconds.", TTFT),
    "vllm:inter_token_latency_seconds": ("Histogram of inter-token latency in seconds.", TOKEN),
    "vllm:request_time_per_output_token_seconds": ("Histogram of time_per_output_token_seconds per request.", TOKEN),
    "vllm:e2e_request_latency_seconds": ("Histogram of e2e request latency in seconds.", REQUEST),
    "vllm:request_queue_time_seconds": ("Histogram of time spent in WAITING phase for request.", REQUEST),
    "vllm:request_inference_time_seconds": ("Histogram of time spent in RUNNING phase for request.", REQUEST),
    "vllm:request_prefill_time_seconds": ("Histogram of time spent in PREFILL phase for request.", REQUEST),
    "vllm:request_decode_time_seconds": ("Histogram of time spent in DECODE phase for request.", REQUEST),
    "vllm:request_prompt_tokens": ("Number of prefill tokens processed.", SIZES),
    "vllm:request_generation_tokens": ("Number of generation tokens processed.", SIZES),
}
REASONS = ("stop", "length", "abort", "error", "repetition")


@dataclass
class Histogram:
    """Counts per bucket (the last one is +Inf) and the sum of what was observed."""

    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def observe(self, value: float) -> None:
        self.counts = self.counts or [0] * (len(self.bounds) + 1)
        self.counts[bisect.bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, labels: str) -> list[str]:
        counts = self.counts or [0] * (len(self.bounds) + 1)
        below, lines = 0, []
        for bound, count in zip([*map(str, self.bounds), "+Inf"], counts, strict=True):
            below += count
            lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {float(below)}')
        return [*lines, f"{name}_count{{{labels}}} {float(below)}", f"{name}_sum{{{labels}}} {self.total}"]


class Metrics:
    """Everything one server counts. `kv_tokens` is how many tokens its pretended KV cache holds."""

    def __init__(self, model: str, kv_tokens: int = 16384) -> None:
        self.labels = f'engine="0",model_name="{model}"'
        self.kv_tokens = kv_tokens
        self.lock = threading.Lock()
        self.running: dict[int, int] = {}
        self.counters = {"prompt_tokens": 0, "generation_tokens": 0, "prefix_cache_queries": 0, "prefix_cache_hits": 0}
        self.finished = dict.fromkeys(REASONS, 0)
        self.histograms = {name: Histogram(bounds) for name, (_, bounds) in HISTOGRAMS.items()}
        self.seen_prompts: set[str] = set()

    def begin(self, request: int, prompt: str, prompt_tokens: int) -> None:
        with self.lock:
            self.running[request] = prompt_tokens
            self.counters["prompt_tokens"] += prompt_tokens
            self.counters["prefix_cache_queries"] += prompt_tokens
            if prompt in self.seen_prompts:
                self.counters["prefix_cache_hits"] += prompt_tokens // 16 * 16
            self.seen_prompts.add(prompt)
            self._observe("request_queue_time_seconds", 0.0)
            self._observe("request_prompt_tokens", prompt_tokens)

    def token(self, request: int, waited: float, first: bool) -> None:
        with self.lock:
            self.running[request] += 1
            self.counters["generation_tokens"] += 1
            self._observe("time_to_first_token_seconds" if first else "inter_token_latency_seconds", waited)

    def end(self, request: int, reason: str, times: list[float]) -> None:
        """times: instants of the start and of every token."""
        with self.lock:
            self.running.pop(request, None)
            self.finished[reason] += 1
            whole, tokens = times[-1] - times[0], len(times) - 1
            self._observe("e2e_request_latency_seconds", whole)
            self._observe("request_inference_time_seconds", whole)
            self._observe("request_generation_tokens", tokens)
            if tokens:
                self._observe("request_prefill_time_seconds", times[1] - times[0])
                self._observe("request_decode_time_seconds", times[-1] - times[1])
            if tokens > 1:
                self._observe("request_time_per_output_token_seconds", (times[-1] - times[1]) / (tokens - 1))

    def _observe(self, name: str, value: float) -> None:
        self.histograms[f"vllm:{name}"].observe(value)

    def exposition(self) -> str:
        with self.lock:
            gauges = {
                "num_requests_running": ("Number of requests in model execution batches.", len(self.running)),
                "num_requests_waiting": ("Number of requests waiting to be processed.", 0),
                "kv_cache_usage_perc": (
                    "KV-cache usage. 1 means 100 percent usage.",
                    min(1.0, sum(self.running.values()) / self.kv_tokens),
                ),
            }
            lines = ["# HELP process_start_time_seconds Start time of the process since unix epoch in seconds."]
            lines += ["# TYPE process_start_time_seconds gauge", f"process_start_time_seconds {STARTED}"]
            for name, (words, value) in gauges.items():
                lines += [*_head(f"vllm:{name}", words, "gauge"), f"vllm:{name}{{{self.labels}}} {float(value)}"]
            for name, count in (*self.counters.items(), ("num_preemptions", 0)):
                full = f"vllm:{name}_total"
                lines += [*_head(full, f"Counter of {name}.", "counter"), f"{full}{{{self.labels}}} {float(count)}"]
            lines += _head("vllm:request_success_total", "Count of successfully processed requests.", "counter")
            for reason, count in self.finished.items():
                engine, model = self.labels.split(",", 1)
                labels = f'{engine},finished_reason="{reason}",{model}'
                lines.append(f"vllm:request_success_total{{{labels}}} {float(count)}")
            for name, histogram in self.histograms.items():
                lines += [*_head(name, HISTOGRAMS[name][0], "histogram"), *histogram.lines(name, self.labels)]
            block = f'block_size="16",engine="0",num_gpu_blocks="{self.kv_tokens // 16}"'
            lines += _head("vllm:cache_config_info", "Information of the LLMEngine CacheConfig", "gauge")
            return "\n".join([*lines, f"vllm:cache_config_info{{{block}}} 1.0", ""])


def _head(name: str, words: str, kind: str) -> list[str]:
    return [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
