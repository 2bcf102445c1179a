"""Settings: the same findings as `pilot doctor`, without its secrets."""

from pathlib import Path

import pytest

from console.settings import settings
from console.surface.gate import token
from tests.pages.page import LIMIT_S, PAGES, AppTest, calm, in_language, opened, said


def test_it_opens(situation: str, lang: str) -> None:
    in_language(opened("settings", lang=lang), lang)


def test_it_says_where_the_data_is_and_keeps_the_token(data: Path) -> None:
    words = said(opened("settings"))
    assert str(data) in words
    assert token(settings().token) not in words


@pytest.mark.parametrize("address", ["localhost", "[::1]", "[::1]:8501", "127.0.0.1:99999x", "", "localhost:8501"])
def test_the_name_in_the_address_line_may_lack_a_port(data: Path, address: str) -> None:
    page = AppTest.from_file(str(PAGES / "app.py"), default_timeout=LIMIT_S)
    page.context.headers = {"host": address}
    calm(page.switch_page("settings.py").run())
