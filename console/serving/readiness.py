"""Whether a server that answers also makes sense: a request that warms it up, then a question with a known answer.

A server can be ready by every other sign and still answer with fluent nonsense (measured: compiled bfloat16 on a CPU;
on NPUs after a wrong upgrade), so no instance is called ready before it passed this.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from console.errors import EngineError
from console.serving.client import EngineClient
from console.serving.reply import Reply, timing
from console.text import Text, say

MOST_TOKENS = 128
"""Enough for a model that thinks first to name the answer in its thoughts."""
NOISE_TOKENS = 16
FINISHED = ("stop", "length")


@dataclass(frozen=True)
class Question:
    """accepted is a regular expression searched in the answer after `normalised`."""

    name: str
    language: str
    prompt: str
    accepted: str


SANITY: tuple[Question, ...] = (
    Question("france", "en", "What is the capital of France?", r"\bparis\b"),
    Question("france-zh", "zh", "法国的首都是哪里？", r"巴黎|\bparis\b"),
)
"""The first is asked of every model; small English ones need not know the Chinese one."""


@dataclass(frozen=True)
class Verdict:
    """What a question showed, with its evidence. label says what the verdict means; times in seconds.

    partial answers, refusals and hangs are not verdicts but an EngineError.
    """

    sane: bool
    label: Text
    question: str
    answer: str
    finish_reason: str | None
    ttft_s: float | None
    latency_s: float | None

    def evidence(self) -> dict[str, object]:
        """For the record of the instance: plain values only."""
        return {
            "sane": self.sane,
            "question": self.question,
            "answer": self.answer,
            "finish_reason": self.finish_reason,
            "ttft_s": self.ttft_s,
            "latency_s": self.latency_s,
        }


def warm_up(client: EngineClient, model: str) -> float:
    """One short request, whose seconds say nothing about later ones. Raises EngineError."""
    return timing(_asked(client, model, "Hello", 8)).total_s or 0.0


def prove(client: EngineClient, model: str, *, noise: bool, question: Question = SANITY[0]) -> Verdict:
    """Ask `question` at temperature 0 and judge the answer. Raises EngineError when there is no whole answer."""
    reply = _asked(client, model, question.prompt, NOISE_TOKENS if noise else MOST_TOKENS)
    sane, label = _judge_noise(reply) if noise else _judge(reply, question)
    figures = timing(reply)
    answer = reply.text or reply.reasoning
    return Verdict(sane, label, question.prompt, answer, reply.finish_reason, figures.ttft_s, figures.total_s)


def normalised(words: str) -> str:
    """Lower case, one form for each character, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", words).casefold().split())


def _asked(client: EngineClient, model: str, prompt: str, most: int) -> Reply:
    messages = [{"role": "user", "content": prompt}]
    stream = client.chat_stream(model, messages, temperature=0, max_tokens=most, seed=0)
    for _ in stream:
        pass
    if stream.reply.partial:
        raise EngineError(stream.reply.partial)
    return stream.reply


def _judge(reply: Reply, question: Question) -> tuple[bool, Text]:
    said = normalised(f"{reply.reasoning} {reply.text}")
    if not said:
        return False, say("It answered nothing to a simple question.")
    if _stutters(said):
        return False, say("Its answer to a simple question repeats the same words over and over.")
    if not re.search(question.accepted, said):
        return False, say("Its answer to a simple question is wrong, so nothing else it says can be trusted.")
    return True, say("It answered a simple question rightly.")


def _judge_noise(reply: Reply) -> tuple[bool, Text]:
    tokens = reply.output_tokens if reply.output_tokens is not None else len(reply.instants)
    if tokens < 1 or reply.finish_reason not in FINISHED:
        return False, say("It produced no words at all.")
    return True, say("This model has random weights: it produces words, and they mean nothing.")


def _stutters(said: str) -> bool:
    """Whether one group of three words (or of six characters, for languages without spaces) makes up most of it."""
    words = said.split()
    units, size = (words, 3) if len(words) >= len(said) / 12 else (list(said), 6)
    groups = Counter(tuple(units[i : i + size]) for i in range(len(units) - size + 1))
    return bool(groups) and len(units) >= 4 * size and groups.most_common(1)[0][1] * size > len(units) / 2
