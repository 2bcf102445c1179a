"""A streamed answer while it arrives: chunks to show, and the reply with its instants to keep."""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from console.errors import EngineError
from console.serving.reply import Chunk, Reply
from console.text import Text, say

STOPPED = say("It was stopped before it was finished.")
Clock = Callable[[], float]
Event = Mapping[str, Any]


class Stream(Iterator[Chunk]):
    """Iterate for the chunks; `reply` is the answer so far, also after an error; `close` ends the request at once.

    Only `cut` may be called by another thread than the one that iterates; `hang_up` breaks the connection below it.
    """

    def __init__(
        self, model: str, events: Generator[Event, None, None], clock: Clock, hang_up: Callable[[], None] = lambda: None
    ) -> None:
        self._model, self._clock, self._hang_up = model, clock, hang_up
        self._is_cut = False
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._instants: list[float] = []
        self._sent: float | None = None
        self._done: float | None = None
        self._counts: tuple[int | None, int | None] = (None, None)
        self._finish: str | None = None
        self._broken: Text | None = None
        self._chunks = self._run(events)

    def __next__(self) -> Chunk:
        return next(self._chunks)

    def close(self) -> None:
        """Stop asking: the connection is closed, and the engine drops the request."""
        if self._done is None:
            self._broken = STOPPED
        self._chunks.close()

    def cut(self) -> None:
        """The same at once from another thread, also while the engine is silent: the iteration ends by itself."""
        if self._done is None:
            self._is_cut, self._broken = True, STOPPED
            self._hang_up()

    @property
    def reply(self) -> Reply:
        return Reply(
            self._model,
            text="".join(self._texts),
            reasoning="".join(self._thoughts),
            sent=self._sent,
            instants=tuple(self._instants),
            done=self._done,
            prompt_tokens=self._counts[0],
            output_tokens=self._counts[1],
            finish_reason=self._finish,
            partial=None if self._finish else self._broken,
        )

    def _run(self, events: Generator[Event, None, None]) -> Generator[Chunk, None, None]:
        self._sent = self._clock()
        try:
            for event in events:
                chunk = self._take(event)
                if chunk.text or chunk.reasoning:
                    self._instants.append(chunk.at)
                    yield chunk
            if not self._is_cut:
                self._broken = say("The connection ended before the answer was finished; what arrived is shown.")
        except EngineError as error:
            if self._is_cut:
                return
            self._broken = error.text
            raise
        finally:
            events.close()
            self._done = self._clock()

    def _take(self, event: Event) -> Chunk:
        at = self._clock()
        try:
            if usage := event.get("usage"):
                self._counts = (int(usage["prompt_tokens"]), int(usage["completion_tokens"]))
            choice = event["choices"][0] if event["choices"] else {}
            delta = choice.get("delta") or {}
            self._finish = choice.get("finish_reason") or self._finish
            text = str(delta.get("content") or "")
            thought = str(delta.get("reasoning") or delta.get("reasoning_content") or "")
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise strange(json.dumps(event, ensure_ascii=False)) from error
        self._texts.append(text)
        self._thoughts.append(thought)
        return Chunk(text, thought, at)


def strange(data: str) -> EngineError:
    """The error for a stream that carries something else than a chat answer."""
    return EngineError(say("The server streamed something that is not a chat answer: {data}", data=data[:200]))


def event_data(parts: Iterable[bytes]) -> Iterator[str]:
    """The data of server-sent events, one line each, as vLLM writes them; `parts` may be cut anywhere.

    Lines are cut as bytes and decoded whole: a character may be spread over two parts, and what Python takes for a
    line end (U+2028, U+0085) may stand inside an answer.
    """
    rest = b""
    for part in parts:
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip(b" \r").decode("utf-8", "replace")


def batched(chunks: Iterator[Chunk], seconds: float = 0.05) -> Generator[Chunk, None, None]:
    """Chunks joined so that at most one comes per `seconds`; the first comes at once. Closing it closes `chunks`."""
    waiting: list[Chunk] = []
    shown = float("-inf")
    try:
        for chunk in chunks:
            waiting.append(chunk)
            if chunk.at - shown >= seconds:
                yield joined(waiting)
                waiting, shown = [], chunk.at
        if waiting:
            yield joined(waiting)
    finally:
        if close := getattr(chunks, "close", None):
            close()


def joined(chunks: Sequence[Chunk]) -> Chunk:
    """One chunk with the words of all, at the moment of the last."""
    text, thoughts = "".join(each.text for each in chunks), "".join(each.reasoning for each in chunks)
    return Chunk(text, thoughts, chunks[-1].at)
