"""Two hosts side by side: what differs between the good one and the bad one."""

from collections.abc import Mapping

import streamlit as st

from console.checks.difference import Kind
from console.facts.words import ALL_TITLES
from console.hosts import compared, inventory, observe
from console.hosts.compared import Comparison
from console.hosts.inventory import Host
from console.surface.calm_table import MISSING, Cell, Head, calm_table
from console.surface.checks_view import verdict_cell
from console.surface.ui import ago, empty, number_in_url, t, words


def comparison(hosts: Mapping[int, Host]) -> None:
    """Choose two, see what differs, and look at what both printed."""
    left, right = _chosen(hosts)
    missing = [host for host in (left, right) if observe.latest(host) is None]
    if missing:
        empty(t("{host} has not been checked yet. Check it first, then compare.", host=missing[0].title))
        return
    found = compared.compare(left, right)
    everything = st.toggle(t("Also show what is the same"), key="all-of-both", bind="query-params")
    names = [words(host.title) for host in (left, right)]
    ages = t(
        "{left} was asked {age}, {right} {other}",
        left=names[0],
        age=ago(found.left.time),
        right=names[1],
        other=ago(found.right.time),
    )
    st.caption(ages)
    _checks(found, names, everything=everything)
    _facts(found, names, everything=everything)
    _raw(found, names)


def _chosen(hosts: Mapping[int, Host]) -> tuple[Host, Host]:
    """The two hosts in the address line; where it names none, the first two."""
    known = list(hosts)
    asked = [number_in_url("host"), number_in_url("compare")]
    left = asked[0] if asked[0] in hosts else known[0]
    right = asked[1] if asked[1] in hosts and asked[1] != left else next(one for one in known if one != left)
    st.session_state["left"], st.session_state["right"] = left, right

    def go() -> None:
        one, other = st.session_state["left"], st.session_state["right"]
        st.query_params["host"] = str(one)
        st.query_params["compare"] = str(other if other != one else right if one != right else left)

    for column, side, label in zip(st.columns(2), ("left", "right"), (t("First host"), t("Second host")), strict=True):
        column.selectbox(label, known, key=side, on_change=go, format_func=lambda one: words(hosts[one].title))
    return hosts[int(left or 0)], hosts[int(right or 0)]


def _checks(found: Comparison, names: list[str], *, everything: bool) -> None:
    rows = [
        [Cell(words(one.either.title)), verdict_cell(one.was), verdict_cell(one.now)]
        for one in found.checks
        if everything or one.kind != Kind.SAME
    ]
    st.subheader(t("Checks"), anchor=False)
    if rows:
        calm_table("compared-checks", _heads(t("Check"), names), rows)
    else:
        st.caption(t("Every check says the same of both."))


def _facts(found: Comparison, names: list[str], *, everything: bool) -> None:
    rows = [
        [Cell(words(one.title)), *(Cell(words(side) or MISSING) for side in (one.left, one.right))]
        for one in found.facts
        if everything or not one.is_same
    ]
    st.subheader(t("What they said of themselves"), anchor=False)
    if rows:
        calm_table("compared-facts", _heads(t("Fact"), names), rows)
    else:
        st.caption(t("Both said the same of themselves."))


def _heads(first: str, names: list[str]) -> list[Head]:
    return [Head(one, text=True) for one in (first, *names)]


def _raw(found: Comparison, names: list[str]) -> None:
    """What both printed, side by side, for one fact at a time."""
    sides = (found.left, found.right)
    chosen = st.selectbox(
        t("Show what both printed for"),
        sorted({name for side in sides for name in side.raws}),
        index=None,
        format_func=lambda name: words(ALL_TITLES[name]) if name in ALL_TITLES else name,
        key="raw-of-both",
        placeholder=t("a fact"),
    )
    if not chosen:
        return
    for column, side, name in zip(st.columns(2), sides, names, strict=True):
        raw = side.raws.get(chosen)
        column.caption(t("{host}, asked {ago}", host=name, ago=ago(side.seen.asked(chosen))))
        column.code((raw.text if raw else "") or t("(it printed nothing)"), language=None)


def first_pair() -> str:
    """The number of a second host, for the address line of this view."""
    shown = number_in_url("host")
    others = [host.id for host in inventory.hosts() if host.id != shown]
    return str(others[-1]) if others else ""
