"""Every command that was sent to a host, by host and by person."""

from collections.abc import Sequence

import streamlit as st

from console.hosts import commands, inventory
from console.hosts.commands import Command
from console.surface.calm_table import Cell, Head, calm_table
from console.surface.ui import clock, span, t, words

SHOWN = 100
LINE = 90
"""Signs of a command's first line that stand in the table; the whole opens under it."""


def commands_view() -> None:
    """The filters and the latest commands that fit them."""
    hosts = {one.id: words(one.title) for one in (inventory.this_machine(), *inventory.hosts())}
    left, middle, right = st.columns([3, 3, 2], vertical_alignment="bottom")
    host = left.selectbox(
        t("Host"), list(hosts), index=None, key="commands-host", placeholder=t("all"), format_func=hosts.__getitem__
    )
    person = middle.selectbox(t("Who"), commands.actors(), index=None, key="commands-who", placeholder=t("all"))
    count = right.number_input(t("At most"), 10, 2000, SHOWN, 100, key="commands-most")
    found = commands.commands(host_id=host, actor=person, limit=int(count))
    if not found:
        st.caption(t("No such command was sent, or those there were are older than a month."))
        return
    st.caption(
        t(
            "Standard input is never kept, secrets are hidden, long commands end with how much is missing. The same "
            "command with the same end, repeated within a minute, is one line with the longest time it took."
        )
    )
    _table(found, hosts)


def _table(found: Sequence[Command], hosts: dict[int, str]) -> None:
    heads = [
        Head(t("when"), text=True), Head(t("host")), Head(t("who")), Head(t("command"), text=True),
        Head(t("times"), True), Head(t("took"), True), Head(t("end"), text=True),
    ]  # fmt: skip
    calm_table("commands", heads, [_row(one, hosts.get(one.host_id) or one.where) for one in found])


def _row(one: Command, host: str) -> Sequence[Cell]:
    when = (
        clock(one.last) if one.times == 1 else t("{last}, since {first}", last=clock(one.last), first=clock(one.first))
    )
    first, _, rest = one.script.partition("\n")
    command = Cell(first[:LINE] + ("…" if len(first) > LINE else ""), whole=_whole(one, rest or first[LINE:]))
    end = Cell(words(one.error), "bad") if one.error is not None else Cell(t("exit code {code}", code=one.code))
    return (
        Cell(when, "quiet"),
        Cell(host),
        Cell(one.actor),
        command,
        Cell(str(one.times)),
        Cell(_took(one.seconds)),
        end,
    )


def _took(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else span(seconds)


def _whole(one: Command, more: str) -> str:
    return f"# {one.where}\n{one.script}" if more else ""
