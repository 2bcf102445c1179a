"""A pretended vLLM server for the tests of metrics: requests go in, exposition text comes out."""

import math
from dataclasses import dataclass, field

from console.metrics.exposition import parse
from console.metrics.stored import StoredScrape, body_of

BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, math.inf)
NAMES = {
    "ttft": "vllm:time_to_first_token_seconds",
    "inter_token": "vllm:inter_token_latency_seconds",
    "e2e": "vllm:e2e_request_latency_seconds",
}


@dataclass
class PretendedEngine:
    """What one engine would have counted; `start` is the Unix time its process began."""

    start: float = 1_000.0
    running: int = 0
    waiting: int = 0
    usage: float = 0.0
    prompt: int = 0
    generated: int = 0
    seen: dict[str, list[float]] = field(default_factory=lambda: {figure: [] for figure in NAMES})

    def finish(self, ttft: float, tokens: int = 10, inter_token: float = 0.02) -> None:
        """One request ends."""
        self.prompt += 100
        self.generated += tokens
        self.seen["ttft"].append(ttft)
        self.seen["inter_token"] += [inter_token] * (tokens - 1)
        self.seen["e2e"].append(ttft + inter_token * (tokens - 1))

    def text(self) -> str:
        labels = 'engine="0",model_name="m"'
        lines = [
            f"process_start_time_seconds {self.start}",
            f"vllm:num_requests_running{{{labels}}} {self.running}",
            f"vllm:num_requests_waiting{{{labels}}} {self.waiting}",
            f"vllm:kv_cache_usage_perc{{{labels}}} {self.usage}",
            f"vllm:prompt_tokens_total{{{labels}}} {self.prompt}",
            f"vllm:generation_tokens_total{{{labels}}} {self.generated}",
            f'vllm:request_success_total{{{labels},finished_reason="stop"}} {len(self.seen["e2e"])}',
        ]
        for figure, values in self.seen.items():
            name = NAMES[figure]
            for le in BOUNDS:
                bound = "+Inf" if math.isinf(le) else str(le)
                lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {sum(value <= le for value in values)}')
            lines += [f"{name}_count{{{labels}}} {len(values)}", f"{name}_sum{{{labels}}} {sum(values)}"]
        return "\n".join(lines) + "\n"

    def stored(self, time: float, attempt: int = 1) -> StoredScrape:
        return StoredScrape(time, attempt, body_of(parse(self.text())))
