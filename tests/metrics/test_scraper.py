"""A scrape gives the figures, and everything that can go wrong on the way is an EngineError with a sentence."""

import socket
from collections.abc import Callable

import httpx
import pytest

from console.errors import EngineError
from console.metrics.scraper import scrape
from tests.metrics.engine import PretendedEngine


def answering(answer: Callable[[httpx.Request], httpx.Response]) -> httpx.MockTransport:
    return httpx.MockTransport(answer)


def test_a_server_is_read_at_its_metrics_address() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == "http://127.0.0.1:8000/metrics"
        return httpx.Response(200, text=PretendedEngine(running=2).text())

    assert scrape("http://127.0.0.1:8000/", transport=answering(answer)).running == 2


def test_an_answer_that_is_no_measurement_has_no_engines() -> None:
    seen = scrape("http://h", transport=answering(lambda _: httpx.Response(200, text="<html>hello</html>\n")))
    assert seen.engines == ()
    assert len(seen.dropped) == 1


def test_another_code_than_200_is_an_error() -> None:
    with pytest.raises(EngineError, match="http://h answered HTTP 404"):
        scrape("http://h", transport=answering(lambda _: httpx.Response(404)))


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (httpx.ReadTimeout("slow"), "did not answer within 2.0 seconds"),
        (httpx.ConnectError("refused"), "cannot be reached: refused"),
        (httpx.RemoteProtocolError("cut"), "cannot be reached: cut"),
    ],
)
def test_a_failure_on_the_way_is_an_error(failure: Exception, sentence: str) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise failure

    with pytest.raises(EngineError, match=sentence):
        scrape("http://h", transport=answering(fail))


@pytest.mark.parametrize("address", ["http://h:port", "ftp://h", ""])
def test_an_impossible_address_is_an_error(address: str) -> None:
    with pytest.raises(EngineError):
        scrape(address)


def test_a_port_nobody_listens_on_is_an_error_whatever_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://203.0.113.1:3128")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(EngineError, match="cannot be reached"):
            scrape(f"http://127.0.0.1:{port}")
