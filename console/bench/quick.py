"""A small load on one server from this process: enough to say how fast it answers, not a benchmark to sign."""

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from console.errors import EngineError
from console.serving.client import EngineClient
from console.serving.reply import timing
from console.text import say

OUTPUT_TOKENS = 64
PROMPTS = (
    "Describe the sea in a few sentences.",
    "Explain what a compiler does.",
    "Write a short story about a lamp.",
    "List the seasons and say one thing about each.",
    "What does a bridge need in order to stand?",
    "Describe how bread is made.",
)
"""Different words, so that the prefix cache does not answer for the model."""


@dataclass(frozen=True)
class Request:
    """One request as the client saw it; seconds and tokens."""

    ttft_s: float
    tpot_s: float | None
    total_s: float
    prompt_tokens: int
    output_tokens: int


def measure(
    address: str,
    model: str,
    *,
    concurrency: int,
    requests: int,
    api_key: str | None = None,
    done: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[list[Request], float]:
    """Send `requests` chat requests, `concurrency` at a time, and return them with the wall time in seconds.

    Every answer is drawn to OUTPUT_TOKENS tokens at temperature 0. `done` is told how many have ended. Raises
    EngineError as soon as one request fails: a load with holes measures nothing.
    """
    finished: list[Request] = []

    def one(number: int) -> None:
        with EngineClient(f"http://{address}", api_key) as client:
            finished.append(_request(client, model, f"({number}) {PROMPTS[number % len(PROMPTS)]}"))
        done(len(finished), requests)

    begun = time.monotonic()
    with ThreadPoolExecutor(max_workers=concurrency) as pool:
        futures = [pool.submit(one, number) for number in range(requests)]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return finished, time.monotonic() - begun


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` % of `values` do not exceed (nearest rank); `values` not empty."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def _request(client: EngineClient, model: str, prompt: str) -> Request:
    stream = client.chat_stream(model, [{"role": "user", "content": prompt}], temperature=0, max_tokens=OUTPUT_TOKENS)
    for _ in stream:
        pass
    reply = stream.reply
    figures = timing(reply)
    if reply.partial is not None:
        raise EngineError(reply.partial)
    if figures.ttft_s is None or figures.total_s is None or not reply.output_tokens:
        raise EngineError(say("The server answered a measured request without a single word."))
    return Request(figures.ttft_s, figures.tpot_s, figures.total_s, reply.prompt_tokens or 0, reply.output_tokens)
