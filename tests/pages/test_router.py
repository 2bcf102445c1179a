"""The router: knows every page, stands before each, and the pages stay thin."""

import re

import pytest

from tests.pages.page import PAGES, in_language, opened

NAMES = sorted(path.stem for path in PAGES.glob("*.py") if path.stem != "app")


def test_every_page_has_its_line() -> None:
    lines = re.findall(r'st\.Page\("(\w+)\.py"', (PAGES / "app.py").read_text())
    assert sorted(lines) == NAMES
    assert len(lines) == len(set(lines))


def test_every_page_has_its_tests() -> None:
    tested = {path.stem.removeprefix("test_") for path in (PAGES.parent / "tests" / "pages").glob("test_*.py")}
    assert set(NAMES) <= tested


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_thin_and_ask_the_database_nothing(name: str) -> None:
    text = (PAGES / f"{name}.py").read_text()
    assert len(text.splitlines()) < 120
    assert not re.search(r"^\s*(from|import) (db|sqlalchemy|sqlite3)\b", text, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_deep_link_as_first_request_passes_the_router(data: object, name: str) -> None:
    page = opened(name)
    switch = page.sidebar.get("button_group")
    assert [one.key for one in switch] == ["lang"], "the router draws the language switch"
    assert page.title[0].value


@pytest.mark.parametrize(("asked", "lang"), [("zh", "zh"), ("en", "en"), ("fr", "en"), ("", "en"), ("<script>", "en")])
def test_only_a_language_there_is_can_be_asked_for(data: object, asked: str, lang: str) -> None:
    in_language(opened("home", lang=asked), lang)


@pytest.mark.parametrize(
    ("locale", "lang"), [("zh-CN", "zh"), ("zh_TW", "zh"), ("en-GB", "en"), ("de", "en"), (None, "en")]
)
def test_the_browser_chooses_the_first_language(data: object, locale: str | None, lang: str) -> None:
    page = opened("home", locale=locale)
    assert page.session_state["lang"] == lang
