"""The cards of all hosts in one table: filtered, asked again, and taken away as a file."""

from collections.abc import Callable, Sequence

import streamlit as st

from console.facts.holding import Use
from console.hosts import card_columns
from console.hosts.card_columns import COLUMNS, USES, Column
from console.hosts.cards import Bare, Card, cards
from console.hosts.inventory import Host
from console.jobs import history, path
from console.jobs.history import JobView
from console.jobs.states import StepState
from console.surface.calm_table import Cell, Head, Notes, calm_table
from console.surface.ui import ago, attempt, empty, marked, sentence_case, t, who, words
from console.text import say

ASKED = "cards-asked"
"""Where this session keeps which hosts were asked again: host -> job."""
TONES = {"warning": "warn", "alarm": "bad", "critical": "bad"}
SHAPES = {"warn": "▲ ", "bad": "■ ", "": ""}

LAST = ("bus_id", "driver")
SHOWN = [one for one in COLUMNS if one.field not in LAST] + [one for one in COLUMNS if one.field in LAST]
"""On a narrow screen the right end is out of sight until somebody scrolls: who holds a card comes before that."""


def cards_view(hosts: Sequence[Host]) -> None:
    """Everything of the view; `hosts` are those the page shows."""
    found, bare = cards(hosts)
    shown = _filtered(found)
    with st.container(horizontal=True, vertical_alignment="center"):
        asked = {card.host.id: card.host for card in shown}
        if len(shown) == len(found):  # nothing is filtered out: those that show no card are meant too
            asked = {host.id: host for host in hosts}
        st.button(
            t("Ask the hosts shown again"), key="ask-again", on_click=_ask, args=(list(asked.values()),),
            icon=":material/refresh:",
        )  # fmt: skip
        st.download_button(
            t("Save as CSV"), card_columns.csv(shown, words), "cards.csv", "text/csv",
            disabled=not shown, help=None if shown else t("There is no card to save."), icon=":material/download:",
        )  # fmt: skip
        if found:
            st.caption(_count(shown, found))
    _progress()
    if shown:
        table(shown)
    elif found:
        st.info(t("No card fits these filters."))
    _without(bare, alone=not found)


def table(shown: Sequence[Card]) -> None:
    """One row a card; a value that is not known refers to its reason below."""
    notes = Notes()
    heads = [
        Head(t("Host")),
        *(Head(sentence_case(words(one.title)), one.right, one.field in ("name", "held")) for one in SHOWN),
        Head(sentence_case(t("seen")), True),
    ]
    rows = [
        [
            Cell(words(card.host.title)),
            *(_cell(card, column, notes) for column in SHOWN),
            Cell(ago(card.time), "quiet"),
        ]
        for card in shown
    ]
    calm_table("cards", heads, rows, notes)


def _cell(card: Card, column: Column, notes: Notes) -> Cell:
    shown = column.shown(card)
    if shown is None:
        why = words(say("{host}: {why}", host=card.host.title, why=card.chip.why[column.field]))
        return notes.missing(why.replace("`", ""))  # a note is no Markdown
    tone = TONES.get((card.chip.health or "").lower(), "") if column.field == "health" else ""
    return Cell(SHAPES[tone] + words(shown), tone)


def _filtered(found: Sequence[Card]) -> list[Card]:
    """The cards that fit what the reader chose; a filter with one choice only is not shown."""
    filters: list[tuple[str, str, Callable[[Card], str], Callable[[str], str]]] = [
        ("card-host", t("Host"), lambda card: card.host.name, str),
        ("card-chip", t("Chip"), lambda card: card.chip.name or "–", str),
        ("card-health", t("Health"), lambda card: card.chip.health or "–", str),
        ("card-use", t("Use"), lambda card: str(card.chip.use), lambda one: words(USES[Use(one)])),
    ]
    shown = list(found)
    offered = [each for each in filters if len({each[2](card) for card in found}) > 1]
    for place, (key, label, value, speak) in zip(st.columns(len(offered)) if offered else [], offered, strict=True):
        choices = sorted({value(card) for card in found})
        chosen = place.selectbox(label, choices, index=None, key=key, placeholder=t("all"), format_func=speak)
        shown = [card for card in shown if chosen in (None, value(card))]
    return shown


def _count(shown: Sequence[Card], found: Sequence[Card]) -> str:
    free = sum(card.chip.use == Use.FREE for card in shown)
    held = sum(card.chip.use == Use.HELD for card in shown)
    return t(
        "{shown} of {all} cards: {free} free, {held} held, {rest} not known",
        shown=len(shown), all=len(found), free=free, held=held, rest=len(shown) - free - held,
    )  # fmt: skip


def _ask(hosts: Sequence[Host]) -> None:
    """Queue a check of each host; the worker asks them side by side."""
    st.session_state[ASKED] = {host.id: attempt(path.start, "check", host.id, actor=who()) for host in hosts}


def _progress() -> None:
    """How far the hosts are that were asked again in this session; afterwards, which of them did not answer."""
    asked: dict[int, int | None] = st.session_state.get(ASKED, {})
    if not asked:
        return
    if _at_work(asked):
        st.fragment(run_every=1.0)(_progress_now)(asked)
        return
    lost = [job for one in asked.values() if one is not None and _unanswered(job := history.job(one))]
    if lost:
        each = [marked(say("{job}: {why}", job=job.title, why=job.reason or "–")) for job in lost]
        st.error("\n\n".join(each), icon=":material/link_off:")
    else:
        del st.session_state[ASKED]


def _progress_now(asked: dict[int, int | None]) -> None:
    done = len(asked) - _at_work(asked)
    st.progress(done / len(asked), t("{done} of {all} hosts have been asked", done=done, all=len(asked)))


def _at_work(asked: dict[int, int | None]) -> int:
    active = {job.id for job in history.jobs(1000, active_only=True)}
    return sum(job in active for job in asked.values())


def _unanswered(job: JobView) -> bool:
    return any(step.step.action == "probe" and step.state == StepState.FAILED for step in job.steps)


def _without(bare: Sequence[Bare], *, alone: bool) -> None:
    """The hosts that show no card, each with why."""
    if alone and all(one.time is None for one in bare):
        empty(t("No host was asked for its cards yet. “Ask the hosts shown again” does that."))
    elif bare:
        st.caption(t("Hosts that show no card"))
        heads = [Head(t("Host")), Head(sentence_case(t("why")), text=True), Head(sentence_case(t("seen")), True)]
        calm_table(
            "no-cards",
            heads,
            [[Cell(words(one.host.title)), Cell(words(one.why)), Cell(ago(one.time), "quiet")] for one in bare],
        )
