"""Settings: the same findings as `pilot doctor`, without its secrets."""

from pathlib import Path

import pytest

from console.hosts import observe
from console.hosts.inventory import Host
from console.settings import settings
from console.surface.gate import token
from console.surface.ui import port_in
from tests.pages.page import in_language, opened, press, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("settings", lang=lang), lang)


def test_it_says_where_the_data_is_and_keeps_the_token(data: Path) -> None:
    words = said(opened("settings")).replace("\\", "")  # a path may hold what Markdown would take for its own
    assert str(data) in words
    assert token(settings().token) not in words


def test_vllm_is_looked_at_when_somebody_asks_and_its_age_told(host: Host) -> None:
    page = opened("settings")
    assert "nobody has looked at it yet" in said(page)
    assert observe.runtime(host) is None
    assert page.button(key="look-again").label == "Look at vLLM on this machine"
    page = press(page, "look-again")
    assert page.button(key="look-again").label == "Look at vLLM on this machine again"
    assert "vLLM is not installed · " in said(page)
    first = observe.runtime(host)
    assert first is not None
    opened("settings")
    again = observe.runtime(host)
    assert again is not None
    assert again.time == first.time


@pytest.mark.parametrize(
    ("address", "port"),
    [
        ("127.0.0.1:8501", 8501),
        ("localhost", 80),
        ("", 80),
        ("[::1]", 80),
        ("[::1]:8601", 8601),
        ("localhost:x", 80),
        ("localhost:99999", 80),
    ],
)
def test_the_port_of_the_address_line_may_be_left_out(address: str, port: int) -> None:
    assert port_in(address) == port
