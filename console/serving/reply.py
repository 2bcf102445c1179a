"""One streamed answer as it arrived: its words, its raw instants, and every figure derived from them."""

import itertools
from dataclasses import dataclass

from console.text import Text


@dataclass(frozen=True)
class Chunk:
    """A piece of an answer. at = instant of its arrival, seconds of the client's clock."""

    text: str
    reasoning: str
    at: float


@dataclass(frozen=True)
class Reply:
    """What is known of an answer so far.

    sent, done      instants, seconds of the client's clock: the request leaves, the stream has ended (None: not yet)
    instants        arrival of every chunk that carried words, thoughts included
    prompt_tokens, output_tokens   as the server counted them; None = it did not say
    finish_reason   "stop" = the model ended, "length" = cut at max_tokens; None = the answer was not finished
    partial         why the answer is not whole; None when it is, or while it still grows
    """

    model: str
    text: str = ""
    reasoning: str = ""
    sent: float | None = None
    instants: tuple[float, ...] = ()
    done: float | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None
    partial: Text | None = None


@dataclass(frozen=True)
class Timing:
    """Figures of one answer, in seconds; None = cannot be said from what arrived.

    ttft_s         request sent to first chunk with words, thoughts included
    tpot_s         (last chunk - first chunk) / (output tokens - 1): time per output token without the first
    itls_s         gaps between neighbouring chunks; a chunk may carry more than one token
    tokens_per_s   (output tokens - 1) / (last chunk - first chunk), the inverse of tpot_s
    total_s        request sent to end of stream
    """

    ttft_s: float | None
    tpot_s: float | None
    itls_s: tuple[float, ...]
    tokens_per_s: float | None
    total_s: float | None


def timing(reply: Reply) -> Timing:
    """The figures of `reply`; rates need at least two chunks at different instants and the server's own count."""
    instants, sent, tokens = reply.instants, reply.sent, reply.output_tokens or 0
    span = instants[-1] - instants[0] if instants else 0.0
    counted = tokens > 1 and span > 0
    return Timing(
        ttft_s=instants[0] - sent if instants and sent is not None else None,
        tpot_s=span / (tokens - 1) if counted else None,
        itls_s=tuple(late - early for early, late in itertools.pairwise(instants)),
        tokens_per_s=(tokens - 1) / span if counted else None,
        total_s=reply.done - sent if reply.done is not None and sent is not None else None,
    )
