"""The checklists of many hosts at once: which check did not pass where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from console.checks import AREAS, CHECKS
from console.checks.report import STANDINGS
from console.hosts import kept, observe, waivers
from console.hosts.inventory import Host
from console.jobs import history
from console.surface.calm_table import MISSING, Cell, Head, calm_table
from console.surface.checks_view import KINDS, TONES
from console.surface.hosts_view import look_at_all
from console.surface.standing_view import tally
from console.surface.ui import ago, show_error, t, words

ALL = "all"
SIDE_BY_SIDE = 8
"""Hosts in one table; more would not fit a screen."""


@dataclass(frozen=True)
class Look:
    """How the checks of a host stand, by name, and when it was asked."""

    time: float
    standings: Mapping[str, str]


def matrix(hosts: Mapping[int, Host]) -> None:
    """Choose hosts by a tag, check them all, and see what did not pass where."""
    chosen = _chosen(list(hosts.values()))
    busy = _at_work(chosen)
    st.button(
        t("Check these hosts now"),
        key="check-many",
        type="primary",
        icon=":material/refresh:",
        on_click=look_at_all,
        args=(chosen,),
    )

    @st.fragment(run_every=2.0 if busy else None)
    def results() -> None:
        now = _at_work(chosen)
        if bool(now) != bool(busy):
            st.rerun()
        show_error()
        if now:
            st.caption(t("{count} of {all} are being checked.", count=len(now), all=len(chosen)))
        looks = _looks(chosen)
        for host in chosen:
            _line(host, looks.get(host.id))
        everything = st.toggle(t("Also show what passed everywhere"), key="all-checks", bind="query-params")
        for first in range(0, len(chosen), SIDE_BY_SIDE):
            _table(chosen[first : first + SIDE_BY_SIDE], looks, everything=everything)

    results()


def _chosen(hosts: Sequence[Host]) -> list[Host]:
    """All of them, or those with the tag in the address line."""
    tags = sorted({tag for host in hosts for tag in host.tags})
    if not tags:
        return list(hosts)
    asked = st.query_params.get("hosts", ALL)
    st.session_state["many-tag"] = asked if asked in tags else ALL

    def go() -> None:
        st.query_params["hosts"] = str(st.session_state["many-tag"] or ALL)

    tag = st.pills(
        t("Which hosts"),
        [ALL, *tags],
        key="many-tag",
        required=True,
        on_change=go,
        format_func=lambda one: t("all hosts") if one == ALL else one,
    )
    return [host for host in hosts if tag == ALL or tag in host.tags]


def _at_work(hosts: Sequence[Host]) -> set[int]:
    """Those of the hosts that are being asked now."""
    numbers = {host.id for host in hosts}
    return {job.host_id for job in history.jobs(2000, active_only=True) if job.kind in KINDS} & numbers


def _looks(hosts: Sequence[Host]) -> dict[int, Look]:
    """What is known of each host that was asked; judged anew only where something new is known."""
    probes, waived = kept.newest(), waivers.newest()
    known: dict[int, tuple[object, Look]] = st.session_state.setdefault("looks", {})
    for host in hosts:
        state = (probes.get(host.id), waived.get(host.id))
        if host.id in known and known[host.id][0] == state:
            continue
        checked = observe.judged(host)
        if checked is not None:
            standings = {one.name: one.standing for one in checked.judged}
            known[host.id] = (state, Look(checked.time, standings))
    return {host.id: known[host.id][1] for host in hosts if host.id in known}


def _line(host: Host, look: Look | None) -> None:
    columns = st.columns([3, 6, 2], vertical_alignment="center")
    columns[0].page_link("checklist.py", label=words(host.title), query_params={"host": str(host.id)})
    columns[1].markdown(tally(look.standings.values()) if look else t("not checked yet"))
    columns[2].caption(ago(look.time) if look else "")


def _table(hosts: Sequence[Host], looks: Mapping[int, Look], *, everything: bool) -> None:
    """One row a check, one column a host; only checks that did not pass on one of them, unless wished."""
    found: dict[str, dict[int, str]] = {}
    for host in hosts:
        for name, standing in looks[host.id].standings.items() if host.id in looks else ():
            found.setdefault(name, {})[host.id] = standing
    rows = [
        [Cell(words(CHECKS[name].title)), *(_cell(standings.get(host.id)) for host in hosts)]
        for name, standings in sorted(found.items(), key=lambda one: _place(one[0]))
        if everything or set(standings.values()) != {"pass"}
    ]
    if rows:
        key = f"matrix-{hosts[0].id}"
        calm_table(key, [Head(t("Check")), *(Head(words(host.title)) for host in hosts)], rows)
    elif found:
        st.caption(t("Every check passed on every one of these hosts."))


def _place(name: str) -> tuple[int, int]:
    """By area, as on the checklist of one host."""
    return list(AREAS).index(CHECKS[name].area), list(CHECKS).index(name)


def _cell(standing: str | None) -> Cell:
    if standing is None:
        return Cell(MISSING, "quiet")
    shape, word = STANDINGS[standing]
    return Cell(f"{shape} {words(word)}", TONES.get(standing, ""))
