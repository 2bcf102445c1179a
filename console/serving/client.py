"""Talks to one vLLM server over HTTP: is it alive, what does it serve, and a streamed answer with its instants."""

import json
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

import httpx

from console.errors import EngineError
from console.serving.line import Line
from console.serving.request import ChatRequest
from console.serving.stream import Clock, Event, Stream, event_data, strange
from console.text import say

CONNECT_S = 5.0
ANSWER_S = 10.0
SILENCE_S = 120.0
"""Seconds without a single byte after which a stream is given up; a long prompt on a CPU needs tens of seconds."""
SHOWN = 500
"""Characters of an engine's own message that are shown."""

Message = Mapping[str, str]


class EngineClient:
    """One vLLM server at `base_url`. Every failure is an EngineError with a sentence; use as a context or `close`."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        answer_s: float = ANSWER_S,
        silence_s: float = SILENCE_S,
        transport: httpx.BaseTransport | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._silence_s, self._clock = silence_s, clock
        self._http = httpx.Client(
            base_url=self.base_url,
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx.Timeout(answer_s, connect=CONNECT_S),
            transport=transport,
            trust_env=False,  # a proxy of the environment must not see what goes to our own engines
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def health(self) -> None:
        """Returns when /health says 200. It says so even while an engine hangs: see `metrics` and readiness.py."""
        self._get("/health")

    def models(self) -> list[str]:
        """The names the server answers to."""
        answer = self._get("/v1/models")
        try:
            return [str(card["id"]) for card in answer.json()["data"]]
        except (ValueError, KeyError, TypeError) as error:
            raise self._stranger(answer) from error

    def metrics(self) -> str:
        """The exposition text of /metrics."""
        answer = self._get("/metrics")
        if not answer.headers.get("content-type", "").startswith(("text/plain", "application/openmetrics-text")):
            raise self._stranger(answer)
        return answer.text

    def chat_stream(
        self,
        model: str,
        messages: Sequence[Message],
        *,
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        seed: int | None = None,
        stop: Sequence[str] = (),
    ) -> Stream:
        """Ask for a streamed answer; nothing is sent before the first chunk is taken. None leaves it to the server."""
        request = ChatRequest(model, messages, temperature, top_p, max_tokens, seed, stop)
        # Counts with every chunk: an answer that is stopped half-way still has exact ones.
        body = request.body() | {"stream_options": {"include_usage": True, "continuous_usage_stats": True}}
        line = Line()
        return Stream(model, self._events(body, line), self._clock, line.cut)

    def _get(self, path: str) -> httpx.Response:
        with self._translated():
            answer = self._http.get(path)
        if answer.status_code != httpx.codes.OK:
            raise self._refusal(answer)
        return answer

    def _events(self, body: Mapping[str, object], line: Line) -> Generator[Event, None, None]:
        """The events of one answer until the server says it is done, or the connection ends."""
        timeout = httpx.Timeout(self._silence_s, connect=CONNECT_S)
        with (
            self._translated(),
            self._http.stream(
                "POST", "/v1/chat/completions", json=body, timeout=timeout, extensions={"trace": line.trace}
            ) as answer,
        ):
            line.take(answer.extensions.get("network_stream"))
            if answer.status_code != httpx.codes.OK:
                answer.read()
                raise self._refusal(answer)
            if not answer.headers.get("content-type", "").startswith("text/event-stream"):
                raise self._stranger(answer)
            with suppress(httpx.RemoteProtocolError, httpx.ReadError):  # cut off: the reply knows that it is partial
                for data in event_data(answer.iter_bytes()):
                    if data == "[DONE]":
                        return
                    yield _event(data)

    def _refusal(self, answer: httpx.Response) -> EngineError:
        try:
            message = _message(answer.json())
        except ValueError:
            message = answer.text[:SHOWN]
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            return EngineError(say("The server at {url} wants an API key, or another one.", url=self.base_url))
        why = say(
            "The server at {url} answered with status {status}: {message}",
            url=self.base_url,
            status=answer.status_code,
            message=message or "-",
        )
        return EngineError(why)

    def _stranger(self, answer: httpx.Response) -> EngineError:
        why = say(
            "What answers at {url} is not a vLLM server: it sent {kind}. Check the address and the port.",
            url=self.base_url,
            kind=answer.headers.get("content-type") or "-",
        )
        return EngineError(why)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The one place where the errors of httpx become ours."""
        try:
            yield
        except httpx.ConnectError as error:
            why = say("Nothing answers at {url}: the server does not run, or does not run yet.", url=self.base_url)
            raise EngineError(why) from error
        except httpx.TimeoutException as error:
            why = say(
                "The server at {url} took the request and then said nothing for {seconds} s. It is overloaded or "
                "hangs; look at its log.",
                url=self.base_url,
                seconds=self._patience(error),
            )
            raise EngineError(why) from error
        except httpx.HTTPError as error:
            why = say(
                "The connection to {url} broke: {error}", url=self.base_url, error=str(error) or type(error).__name__
            )
            raise EngineError(why) from error

    def _patience(self, error: httpx.TimeoutException) -> str:
        allowed = error.request.extensions.get("timeout", {})
        name = "connect" if isinstance(error, httpx.ConnectTimeout) else "read"
        return f"{allowed.get(name) or 0:g}"


def _event(data: str) -> Event:
    try:
        event = json.loads(data)
    except ValueError as error:
        raise strange(data) from error
    if not isinstance(event, dict):
        raise strange(data)
    if "error" in event:
        raise EngineError(say("The engine broke off this answer and said: {message}", message=_message(event)))
    return event


def _message(body: object) -> str:
    """The engine's own words in an error body, in any of the shapes vLLM has used."""
    if not isinstance(body, dict):
        return str(body)[:SHOWN]
    error = body.get("error", body)
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return str(error)[:SHOWN]
