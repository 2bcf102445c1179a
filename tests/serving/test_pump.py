"""An answer read in a thread of its own: it comes whole, and it can be ended while the engine says nothing."""

import socket
import threading
from collections.abc import Iterator

import pytest

from console.errors import EngineError
from console.serving.client import EngineClient
from console.serving.pump import ticking
from console.serving.stream import Stream
from tests.serving.pretended import pretended

NEVER_S = 3600.0
"""No test ends because this time is over."""


@pytest.fixture
def clients() -> Iterator[list[EngineClient]]:
    made: list[EngineClient] = []
    yield made
    for one in made:
        one.close()


def asked(clients: list[EngineClient], url: str, words: str = "count to 12") -> Stream:
    clients.append(EngineClient(url, silence_s=NEVER_S))
    return clients[-1].chat_stream("smol", [{"role": "user", "content": words}])


def readers() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "answer"]


def test_an_answer_comes_whole(clients: list[EngineClient]) -> None:
    with pretended() as url:
        stream = asked(clients, url)
        said = "".join(chunk.text for chunk in ticking(stream) if chunk is not None)
    assert said == stream.reply.text == "1 2 3 4 5 6 7 8 9 10 11 12"
    assert (stream.reply.partial, stream.reply.finish_reason) == (None, "stop")
    assert readers() == []


@pytest.mark.parametrize("after", [0, 5])
def test_a_silent_engine_is_hung_up_on_at_once(clients: list[EngineClient], after: int) -> None:
    """Before the first token, and in the middle of an answer."""
    with pretended(f"--hang-after {after}") as url:
        stream = asked(clients, url)
        chunks = ticking(stream, every_s=0.05)
        came = [next(chunks) for _ in range(after + 3)]
        assert None in came
        chunks.close()
        assert readers() == []
        stream.close()
    assert str(stream.reply.partial) == "It was stopped before it was finished."
    assert stream.reply.text == "".join(chunk.text for chunk in came if chunk is not None)


def test_a_server_that_never_answers_is_hung_up_on_too(clients: list[EngineClient]) -> None:
    """It takes the connection and sends not even a header."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        stream = asked(clients, f"http://127.0.0.1:{mute.getsockname()[1]}")
        chunks = ticking(stream, every_s=0.05)
        assert [next(chunks) for _ in range(3)] == [None] * 3
        chunks.close()
        assert readers() == []
    assert str(stream.reply.partial) == "It was stopped before it was finished."


def test_what_goes_wrong_is_raised_where_it_is_shown(clients: list[EngineClient]) -> None:
    with pretended("--refuse 500") as url:
        stream = asked(clients, url)
        with pytest.raises(EngineError, match="status 500"):
            list(ticking(stream))
    assert readers() == []
    assert stream.reply.partial is not None


def test_an_answer_that_breaks_off_keeps_its_own_reason(clients: list[EngineClient]) -> None:
    with pretended("--drop-after 4") as url:
        stream = asked(clients, url)
        list(ticking(stream))
    assert "The connection ended" in str(stream.reply.partial)
