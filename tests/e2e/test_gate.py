"""Nobody but the holder of the token gets in: pages, routes and websocket of a console that really serves."""

import http.client
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from console.surface.gate import REFUSED
from console.text import render
from tests.running import RunningConsole

pytestmark = [pytest.mark.e2e]
ENGLISH, CHINESE = render(REFUSED, "en"), render(REFUSED, "zh")
PATHS = ["/", "/history", "/job?job=1", "/pilot/series?instance=1", "/pilot/static/plotly.min.js"]
PATHS += ["/_stcore/health", "/_stcore/host-config", "/_stcore/upload_file/x", "/static/js/none.js", "/nowhere"]
STREAM = "/_stcore/stream"


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningConsole]:
    one = RunningConsole(tmp_path_factory.mktemp("gate") / "data")
    one.start()
    yield one
    one.close()


def ask(console: RunningConsole, path: str, method: str = "GET", **headers: str) -> tuple[int, str, Mapping[str, str]]:
    """Status, body and headers of one request. Underscores in the names of headers stand for dashes."""
    connection = http.client.HTTPConnection("127.0.0.1", console.port, timeout=120)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    said = answer.status, answer.read().decode("utf-8", "replace"), dict(answer.getheaders())
    connection.close()
    return said


def token(console: RunningConsole) -> str:
    return (console.folder / "token").read_text().strip()


def cookie(console: RunningConsole) -> str:
    """What a browser holds after the first link."""
    status, _, headers = ask(console, f"/?token={token(console)}")
    assert status == 303
    return headers["set-cookie"].partition(";")[0]


@pytest.mark.parametrize("path", PATHS)
def test_without_a_token_nothing_answers(console: RunningConsole, path: str) -> None:
    for language, first in (("en-US,en;q=0.9", ENGLISH), ("zh-CN,zh;q=0.9", CHINESE)):
        status, words, _ = ask(console, path, accept_language=language)
        assert status == 403
        assert sorted(words.strip().split("\n\n")) == sorted([ENGLISH, CHINESE])
        assert words.startswith(first)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_no_other_method_gets_in(console: RunningConsole, method: str) -> None:
    assert ask(console, "/_stcore/upload_file/x", method)[0] == 403


@pytest.mark.parametrize("offered", ["", "x", "token", "%00", "é"])
def test_a_wrong_token_is_as_none(console: RunningConsole, offered: str) -> None:
    from urllib.parse import quote

    assert ask(console, f"/?token={quote(offered)}")[0] == 403
    assert ask(console, "/", cookie=f"pilot_{console.port}={quote(offered)}")[0] == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(console: RunningConsole) -> None:
    status, _, headers = ask(console, f"/history?token={token(console)}&subject=job%3A1")
    assert (status, headers["location"]) == (303, "/history?subject=job%3A1")
    given = headers["set-cookie"].lower()
    assert "httponly" in given
    assert "samesite=lax" in given


def test_with_the_cookie_everything_answers(console: RunningConsole) -> None:
    held = cookie(console)
    assert ask(console, "/", cookie=held)[0] == 200
    status, words, _ = ask(console, "/pilot/series?instance=1", cookie=held)
    assert (status, '"series"' in words) == (200, True)
    assert ask(console, "/_stcore/health", cookie=held)[:2] == (200, "ok")


@pytest.mark.parametrize("host", ["pilot.example", "127.0.0.1.example", "10.0.0.1", "localhost.example:80", ""])
def test_another_name_is_refused_even_with_the_cookie(console: RunningConsole, host: str) -> None:
    """A page of some other site that had its name point here."""
    status, words, _ = ask(console, "/", cookie=cookie(console), host=host)
    assert (status, "only under localhost or 127.0.0.1" in words) == (403, True)


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}"])
def test_the_names_of_this_machine_are_let_in(console: RunningConsole, host: str) -> None:
    assert ask(console, "/", cookie=cookie(console), host=host.format(port=console.port))[0] == 200


def test_the_websocket_is_refused_without_the_cookie(console: RunningConsole) -> None:
    address = f"ws://127.0.0.1:{console.port}{STREAM}"
    for headers in ({}, {"Cookie": f"pilot_{console.port}=x"}):
        with pytest.raises(InvalidStatus) as refused, connect(address, additional_headers=headers, open_timeout=120):
            pass
        assert refused.value.response.status_code == 403
    with pytest.raises(InvalidStatus), connect(f"{address}?token={token(console)}", open_timeout=120):
        pass


def test_the_websocket_opens_with_the_cookie(console: RunningConsole) -> None:
    address = f"ws://127.0.0.1:{console.port}{STREAM}"
    with connect(address, additional_headers={"Cookie": cookie(console)}, open_timeout=120) as socket:
        assert socket.response is not None
        assert socket.response.status_code == 101


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1:1", "http://localhost:{port}.example", "https://x.example", "null"]
)
def test_a_page_of_another_server_gets_nothing_with_our_cookie(console: RunningConsole, origin: str) -> None:
    """Cookies do not tell ports apart, so the browser sends ours along."""
    other, held = origin.format(port=console.port), cookie(console)
    assert ask(console, "/pilot/series?instance=1", cookie=held, origin=other)[0] == 403
    headers = {"Cookie": held, "Origin": other}
    with (
        pytest.raises(InvalidStatus),
        connect(f"ws://127.0.0.1:{console.port}{STREAM}", additional_headers=headers, open_timeout=120),
    ):
        pass


def test_the_token_is_for_its_owner_only_and_stays(console: RunningConsole) -> None:
    path = Path(console.folder / "token")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(token(console)) >= 32
    before, held = token(console), cookie(console)
    console.kill_web()
    console.start()
    assert token(console) == before
    assert ask(console, "/", cookie=held)[0] == 200
