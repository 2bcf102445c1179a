"""The HTTP client of one vLLM server, against a pretended one over a real socket."""

import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.errors import EngineError
from console.serving.client import EngineClient
from console.serving.reply import Chunk, Reply, timing
from console.serving.stream import Stream, batched, event_data
from tests.running import until
from tests.serving.pretended import pretended

OPENED: list[EngineClient] = []


@pytest.fixture(autouse=True)
def _closed_afterwards() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def asked(url: str, words: str = "hello", **more: object) -> Stream:
    client = EngineClient(url, silence_s=float(more.pop("silence_s", 20.0)))  # type: ignore[arg-type]
    OPENED.append(client)
    return client.chat_stream("smol", [{"role": "user", "content": words}], **more)  # type: ignore[arg-type]


def test_a_server_is_alive_and_says_what_it_serves() -> None:
    with pretended() as url, EngineClient(url + "/") as client:
        client.health()
        assert client.models() == ["smol"]
        assert "vllm:num_requests_running" in client.metrics()


def test_an_answer_with_its_counts_and_instants() -> None:
    with pretended() as url:
        stream = asked(url, "count to 12")
        chunks = list(stream)
    reply = stream.reply
    assert "".join(chunk.text for chunk in chunks) == reply.text == "1 2 3 4 5 6 7 8 9 10 11 12"
    assert (reply.prompt_tokens, reply.output_tokens, reply.finish_reason, reply.partial) == (7, 12, "stop", None)
    assert reply.sent is not None
    assert reply.done is not None
    assert len(reply.instants) == 12
    assert [reply.sent, *reply.instants, reply.done] == sorted([reply.sent, *reply.instants, reply.done])


def test_what_limits_an_answer_reaches_the_server() -> None:
    with pretended() as url:
        short, stopped = (
            asked(url, "count to 9", max_tokens=3, temperature=0, top_p=0.5, seed=1),
            asked(url, "count to 9", stop=["5"]),
        )
        list(short)
        list(stopped)
    assert (short.reply.text, short.reply.finish_reason) == ("1 2 3", "length")
    assert (stopped.reply.text.strip(), stopped.reply.finish_reason) == ("1 2 3 4", "stop")


def test_chinese_survives_bytes_that_come_one_by_one() -> None:
    with pretended("--split-bytes --token-s 0") as url:
        stream = asked(url, "法国的首都是哪里?")
        list(stream)
    assert stream.reply.text == "法国的首都是巴黎。"


@pytest.mark.parametrize("kind", ["--reasoning", "--old-reasoning"])
def test_thoughts_are_kept_apart(kind: str) -> None:
    with pretended(kind) as url:
        stream = asked(url, "What is the capital of France?")
        chunks = list(stream)
    assert stream.reply.reasoning == "Let me think."
    assert stream.reply.text == "The capital of France is Paris."
    assert chunks[0] == Chunk("", "Let", stream.reply.instants[0]), "a thought is the first token"


def test_a_server_that_does_not_count_leaves_the_rates_open() -> None:
    with pretended("--no-usage") as url:
        stream = asked(url)
        list(stream)
    assert stream.reply.output_tokens is None
    assert timing(stream.reply).tokens_per_s is None
    assert timing(stream.reply).ttft_s is not None


def test_closing_ends_the_request_in_the_engine() -> None:
    with pretended("--token-s 0.02") as url, EngineClient(url) as client:
        stream = asked(url, "count to 2000")
        shown = batched(stream)
        next(shown)
        shown.close()
        assert str(stream.reply.partial) == "It was stopped before it was finished."
        assert stream.reply.done is not None
        assert 1 <= (stream.reply.output_tokens or 0) < 2000, "counted although it was stopped"
        for _ in range(200):
            if 'finished_reason="abort",model_name="smol"} 1.0' in client.metrics():
                break
            threading.Event().wait(0.05)
        else:
            raise AssertionError(client.metrics())


def test_a_stream_that_hangs_is_given_up_with_what_arrived() -> None:
    with pretended("--hang-after 3") as url:
        stream = asked(url, "count to 9", silence_s=0.5)
        with pytest.raises(EngineError, match=r"said nothing for 0\.5 s"):
            list(stream)
    assert stream.reply.text == "1 2 3"
    assert "said nothing" in str(stream.reply.partial)


def test_a_connection_that_is_cut_leaves_a_partial_answer() -> None:
    with pretended("--drop-after 3") as url:
        stream = asked(url, "count to 9")
        assert len(list(stream)) == 3
    assert stream.reply.finish_reason is None
    assert "before the answer was finished" in str(stream.reply.partial)


def test_an_error_inside_the_stream_is_said_in_the_words_of_the_engine() -> None:
    with pretended("--error-after 2") as url:
        stream = asked(url, "count to 9")
        with pytest.raises(EngineError, match="EngineCore encountered an issue"):
            list(stream)
    assert stream.reply.text == "1 2"


def test_refusals_show_what_the_engine_said() -> None:
    with pretended() as url, EngineClient(url) as client:
        with pytest.raises(EngineError, match="status 404: The model `other` does not exist"):
            list(client.chat_stream("other", [{"role": "user", "content": "x"}]))
        with pytest.raises(EngineError, match="max_tokens=9000 cannot be greater than max_model_len=8192"):
            list(asked(url, max_tokens=9000))
        with pytest.raises(EngineError, match="maximum context length is 8192 tokens"):
            list(asked(url, max_tokens=8192))
    with pretended("--refuse 500") as url, pytest.raises(EngineError, match="status 500: EngineCore"):
        list(asked(url))
    with pretended("--never-healthy") as url, EngineClient(url) as client, pytest.raises(EngineError, match="503"):
        client.health()


def test_another_web_server_is_not_taken_for_vllm() -> None:
    with pretended("--html") as url, EngineClient(url) as client:
        for ask in (client.models, client.metrics, lambda: list(asked(url))):
            with pytest.raises(EngineError, match="is not a vLLM server: it sent text/html"):
                ask()  # type: ignore[operator]


def test_a_key_is_sent_and_its_lack_is_said() -> None:
    with pretended(key="secret") as url:
        with EngineClient(url, "secret") as client:
            assert client.models() == ["smol"]
        with EngineClient(url) as client, pytest.raises(EngineError, match="wants an API key"):
            client.models()


def test_nobody_there() -> None:
    with EngineClient("http://127.0.0.1:9") as client, pytest.raises(EngineError, match=r"Nothing answers at .*:9"):
        client.health()


def answering(content: bytes, kind: str = "text/event-stream") -> EngineClient:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=content, headers={"content-type": kind}))
    return EngineClient("http://engine", transport=transport)


@pytest.mark.parametrize(
    "data", ["nonsense", "[]", '{"choices": 3}', '{"choices": [[]]}', "{}", '{"choices": [{"delta": 5}]}']
)
def test_a_stream_of_something_else_is_an_error_of_the_engine(data: str) -> None:
    client = answering(f"data: {data}\n\n".encode())
    with pytest.raises(EngineError, match="not a chat answer"):
        list(client.chat_stream("m", []))


@pytest.mark.parametrize("body", [b"{}", b'{"data": 3}', b'{"data": [{}]}', b"[1]", b"\xff"])
def test_other_json_is_not_a_list_of_models(body: bytes) -> None:
    with answering(body, "application/json") as client, pytest.raises(EngineError, match="not a vLLM server"):
        client.models()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "too long"}}, "too long"),
        ({"object": "error", "message": "older"}, "older"),
        ({"detail": [{"msg": "Field required"}]}, "Field required"),
        ({"error": "plain"}, "plain"),
        (["list"], "list"),
    ],
)
def test_every_shape_of_an_error_is_read(body: object, words: str) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(400, json=body))
    with EngineClient("http://e", transport=transport) as client, pytest.raises(EngineError, match=words):
        list(client.chat_stream("m", []))


def test_a_line_end_inside_an_answer_is_not_the_end_of_an_event() -> None:
    event = {"choices": [{"delta": {"content": "a\u2028b\u0085c"}, "finish_reason": "stop"}]}
    client = answering(f"data: {json.dumps(event, ensure_ascii=False)}\r\n\r\ndata: [DONE]\r\n\r\n".encode())
    stream = client.chat_stream("m", [])
    list(stream)
    assert stream.reply.text == "a\u2028b\u0085c"


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])), max_size=5), st.data())
def test_events_are_the_same_wherever_the_bytes_are_cut(texts: list[str], data: st.DataObject) -> None:
    wanted = [json.dumps(text, ensure_ascii=False) for text in texts]
    whole = "".join(f": comment\ndata: {text}\n\n" for text in wanted).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    parts = [whole[a:b] for a, b in itertools.pairwise([0, *cuts, len(whole)])]
    assert list(event_data(parts)) == wanted


def test_figures_follow_their_definitions() -> None:
    reply = Reply("m", sent=10.0, instants=(10.5, 11.0, 12.5), done=13.0, output_tokens=5)
    assert timing(reply).__dict__ == {
        "ttft_s": 0.5,
        "tpot_s": 0.5,
        "itls_s": (0.5, 1.5),
        "tokens_per_s": 2.0,
        "total_s": 3.0,
    }


@pytest.mark.parametrize(
    "reply", [Reply("m"), Reply("m", sent=1.0, instants=(2.0,), output_tokens=7), Reply("m", sent=1.0, done=2.0)]
)
def test_figures_that_cannot_be_said_are_left_open(reply: Reply) -> None:
    assert timing(reply).tpot_s is None
    assert timing(reply).tokens_per_s is None


def ticking(*instants: float) -> Callable[[], float]:
    return iter(instants).__next__


def test_the_clock_is_read_when_the_request_leaves_at_each_event_and_at_the_end() -> None:
    def events() -> Iterator[dict[str, object]]:
        yield {"choices": [{"delta": {"role": "assistant", "content": ""}}]}
        yield {"choices": [{"delta": {"content": "a"}}]}
        yield {"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]}
        yield {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}

    stream = Stream("m", events(), ticking(1, 2, 3, 4, 5, 6))  # type: ignore[arg-type]
    assert [chunk.at for chunk in stream] == [3, 4]
    assert (stream.reply.sent, stream.reply.instants, stream.reply.done) == (1, (3, 4), 6)


def test_batches_come_at_most_every_so_often_and_lose_nothing() -> None:
    chunks = [Chunk(str(i % 10), "t" if i < 3 else "", i * 0.01) for i in range(100)]
    made = list(batched(iter(chunks), 0.05))
    assert "".join(chunk.text for chunk in made) == "".join(chunk.text for chunk in chunks)
    assert "".join(chunk.reasoning for chunk in made) == "ttt"
    assert made[0] == chunks[0]
    assert all(late.at - early.at >= 0.049 for early, late in itertools.pairwise(made[:-1]))
    assert len(made) <= 22
    assert list(batched(iter([]))) == []


def test_metrics_of_the_pretended_server_move_with_its_requests() -> None:
    def value(text: str, name: str) -> float:
        found = re.search(rf"^{re.escape(name)}{{[^}}]*}} (\S+)$", text, re.MULTILINE)
        assert found, name
        return float(found[1])

    with pretended() as url, EngineClient(url) as client:
        before = client.metrics()
        list(asked(url, "count to 10"))
        list(asked(url, "count to 10"))
        # The last token leaves the server before its request does.
        until(lambda: value(client.metrics(), "vllm:num_requests_running") == 0, what="the end of the last request")
        after = client.metrics()
    assert value(before, "vllm:generation_tokens_total") == 0
    assert value(after, "vllm:generation_tokens_total") == 20
    assert value(after, "vllm:time_to_first_token_seconds_count") == 2
    assert value(after, "vllm:inter_token_latency_seconds_count") == 18
