"""Opening one page of the console as a reader would, and reading everything on it."""

import re
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

PAGES = Path(__file__).resolve().parents[2] / "pages"
LIMIT_S = 120
SIDEBAR = 1
"""Where AppTest keeps it among the parts of a page; 0 is the page, the others are dialogs and the like."""
HAN = re.compile(r"[\u4e00-\u9fff]")


def opened(name: str, *, locale: str | None = None, **address: object) -> AppTest:
    """The page `name` with these parameters in the address line, run once through the router."""
    page = AppTest.from_file(str(PAGES / "app.py"), default_timeout=LIMIT_S)
    if locale is not None:
        page.context["locale"] = locale
    for parameter, value in address.items():
        page.query_params[parameter.replace("_", "-")] = str(value)
    if name != "home":
        page.switch_page(f"{name}.py")
    return calm(page.run())


def calm(page: AppTest) -> AppTest:
    """The page, which must show no failure of its own."""
    assert [f"{one.message}\n{''.join(one.stack_trace)}" for one in page.exception] == []
    assert len(page.title) == 1
    return page


def press(page: AppTest, key: str) -> AppTest:
    """Press the button with this key."""
    found = page.button(key=key)
    assert not found.disabled, f"{key} is disabled"
    return calm(found.click().run())


def said(page: AppTest) -> str:
    """Every word on the page and in its dialog, beside the sidebar, one piece a line."""
    parts = [part for number, part in page._tree.children.items() if number != SIDEBAR]
    return "\n".join(word for part in parts for node in part for word in _words(node))


def keys(page: AppTest) -> set[str]:
    """Keys of the buttons on the page."""
    return {one.key for one in page.button if one.key}


def links(page: AppTest) -> dict[str, str]:
    """Label -> where it leads, of all links within the console."""
    return {one.proto.label: f"{one.proto.page}?{one.proto.query_string}" for one in page.get("page_link")}


def in_language(page: AppTest, lang: str) -> None:
    """The frame around the page and the page itself speak this language."""
    frame = [one.value for one in [*page.sidebar.warning, *page.sidebar.caption]]
    assert frame
    assert all(bool(HAN.search(words)) == (lang == "zh") for words in frame)
    if lang == "zh":
        assert HAN.search(said(page))


def _words(node: Any) -> list[str]:
    proto = getattr(node, "proto", None)
    if proto is None:
        return []
    if node.type in ("expandable", "popover", "tab"):
        proto = getattr(proto, node.type, proto)
    if node.type == "arrow_data_frame":
        return [str(node.value.to_dict("records"))]
    return [words for name in ("label", "body", "code_text", "help") if (words := getattr(proto, name, ""))]
