"""Words and widgets that every page shares: language, states, times, sizes, errors."""

import re
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

import streamlit as st

from console.errors import ConsoleError
from console.jobs.jobs import say_state
from console.jobs.worker import beat, held
from console.settings import actor
from console.spans import lasting
from console.text import LANGUAGES, Text, Value, render, say

MARKS = {
    "ok": ("●", "green"),
    "satisfied": ("●", "green"),
    "succeeded": ("●", "green"),
    "ready": ("●", "green"),
    "reachable": ("●", "green"),
    "pass": ("●", "green"),
    "running": ("◐", "blue"),
    "starting": ("◐", "blue"),
    "stopping": ("◐", "blue"),
    "queued": ("○", "gray"),
    "waiting": ("○", "gray"),
    "skipped": ("◌", "gray"),
    "stopped": ("○", "gray"),
    "cancelled": ("◌", "gray"),
    "unknown": ("?", "gray"),
    "warn": ("▲", "orange"),
    "unwell": ("▲", "orange"),
    "stale": ("○", "gray"),
    "todo": ("○", "gray"),
    "lost": ("▲", "orange"),
    "failed": ("■", "red"),
    "fail": ("■", "red"),
    "waived": ("◇", "gray"),
}
"""State -> its shape and colour; the word always stands beside them."""


MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$<>:])")


def language() -> str:
    """ "zh" or "en": chosen by the reader, else the browser's."""
    chosen = st.session_state.get("lang") or st.query_params.get("lang")
    if chosen in LANGUAGES:
        return str(chosen)
    return "zh" if (st.context.locale or "").lower().startswith("zh") else "en"


def t(sentence: str, /, **values: Value | Text) -> str:
    """`sentence` in the reader's language. It must be a literal: a test collects every call."""
    return render(Text(sentence, values), language())


def words(text: Text | str | None) -> str:
    """A stored or computed text in the reader's language; "" for None."""
    return "" if text is None else render(text, language()) if isinstance(text, Text) else text


def marked(text: Text | str | None) -> str:
    """The same for a place that reads Markdown: our sentence may use it, what tools, models and people said may not."""
    return words(_inert(text) if isinstance(text, Text) else text)


def _inert(text: Text) -> Text:
    return Text(text.sentence, {name: _inert_value(value) for name, value in text.values.items()})


def _inert_value(value: Value | Text) -> Value | Text:
    if isinstance(value, Text):
        return _inert(value)
    return MARKDOWN.sub(r"\\\1", value) if isinstance(value, str) else value


def sentence_case(sentence: str) -> str:
    """With a capital first letter, for headings."""
    return sentence[:1].upper() + sentence[1:]


def mark(state: str) -> str:
    """Shape, colour and word of a state, as Markdown."""
    shape, colour = MARKS.get(state, ("?", "gray"))
    return f":{colour}[{shape} {words(state_word(state))}]"


def state_word(state: str) -> Text:
    """The word for a state or a level."""
    levels = {
        "pass": say("pass"),
        "warn": say("warning"),
        "fail": say("fail"),
        "unknown": say("unknown"),
        "stale": say("not looked at lately"),
        "todo": say("to do"),
        "reachable": say("reachable"),
    }
    return levels.get(state) or say_state(state)


def ago(moment: float | None) -> str:
    """How long ago, in one unit."""
    if moment is None:
        return "–"
    return t("{span} ago", span=span(time.time() - moment))


def span(seconds: float | None) -> str:
    """A length of time in at most two units."""
    return words(lasting(seconds))


def roughly(seconds: float) -> str:
    """A length of time that is only expected: whole seconds, or whole minutes once it is longer than one."""
    if seconds < 60:
        return t("{n} s", n=max(1, round(seconds)))
    return t("{m} min", m=round(seconds / 60)) if seconds < 3600 else span(seconds)


def clock(moment: float | None) -> str:
    """Date and time in the reader's zone, which the browser told."""
    if moment is None:
        return "–"
    from datetime import UTC, datetime
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        zone = ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return datetime.fromtimestamp(moment, zone).strftime("%Y-%m-%d %H:%M:%S")


def size(byte_count: float | None) -> str:
    """Bytes as GiB, or MiB below a tenth of one."""
    if byte_count is None:
        return "–"
    return f"{byte_count / 2**30:.1f} GiB" if byte_count >= 0.1 * 2**30 else f"{byte_count / 2**20:.1f} MiB"


def attempt(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Make one console call from a callback; an error of ours is kept and shown at the top of the next run."""
    try:
        return call(*arguments, **named)
    except ConsoleError as error:
        st.session_state["error"] = error.text
        return None


def show_error() -> None:
    """Show what the last callback could not do, once."""
    error = st.session_state.pop("error", None)
    if error is not None:
        st.error(marked(error), icon=":material/error:")


def who() -> str:
    """The actor of everything done in this session."""
    return actor()


def number_in_url(name: str) -> int | None:
    """A whole number from the address line; anything else there is as if nothing was."""
    given = st.query_params.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 12 else None


def warn_unknown(name: str, known: Collection[str], what: Text) -> None:
    """Say so when the address line asks for something that is not there; the page then shows something else."""
    given = st.query_params.get(name)
    if given and given not in known:
        shown = given if len(given) <= 100 else given[:99] + "…"
        told = say("The address asks for {what} “{given}”; there is none (any more).", what=what, given=shown)
        st.warning(marked(told), icon=":material/search_off:")


def port_in(address: str) -> int:
    """The port of a Host header; 80 when it names none, for then browsers leave it out."""
    port = re.sub(r"^(\[.*\]|[^:]*):?", "", address)
    return int(port) if port.isdecimal() and 0 < int(port) < 65536 else 80


def title(heading: str, caption: str = "") -> None:
    """The head of a page."""
    st.title(heading, anchor=False)
    if caption:
        st.caption(caption)
    show_error()


def empty(sentence: str, page: str | None = None, label: str = "", address: Mapping[str, str] | None = None) -> None:
    """What a page says when it has nothing to show, with the way to what comes first."""
    with st.container(border=True, key="empty-state"):
        st.write(sentence)
        if page:
            st.page_link(page, label=label, icon=":material/arrow_forward:", query_params=dict(address or {}))


def frame(chosen: str) -> None:
    """What stands on every page: the language switch and, when it matters, that nobody does the work."""
    with st.sidebar:
        names = {"zh": "中文", "en": "English"}
        st.segmented_control(
            t("Language"),
            list(names),
            default=chosen,
            format_func=names.__getitem__,
            key="lang",
            required=True,
            label_visibility="collapsed",
            bind="query-params",
        )
        _worker_state()


@st.fragment(run_every=10)
def _worker_state() -> None:
    known = beat()
    if held() and known is not None and known.alive:
        st.caption(t("Worker runs · since {since}", since=clock(known.started)))
    else:
        st.warning(
            t(
                "The worker does not run: jobs wait and nothing is observed. It is started again by itself; if "
                "this stays, see `pilot doctor`."
            ),
            icon=":material/warning:",
        )
