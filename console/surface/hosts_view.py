"""A host on the page: how it is reached, what it said of itself, and the raw output behind each value."""

from collections.abc import Sequence

import streamlit as st

from console.hosts import inventory, observe
from console.hosts.inventory import Host
from console.hosts.observe import Seen
from console.jobs import history, path
from console.surface import reach_view, rehearsal_view
from console.surface.kept_host import kept_host
from console.surface.standing_view import result_line
from console.surface.ui import ago, attempt, marked, sentence_case, t, warn_unknown, who, words
from console.text import say


def facts_table(seen: Seen) -> None:
    """One line a fact, and on demand what the machine printed."""
    with st.container(key=f"facts-{seen.probe_id}", gap=None):
        for title, value in seen.lines():
            columns = st.columns([2, 7])
            columns[0].caption(words(title))
            columns[1].text(words(value))
    names = sorted(seen.raws)
    chosen = st.selectbox(
        t("Show what the machine printed for"), names, index=None, key=f"raw-{seen.probe_id}", placeholder=t("a fact")
    )
    if chosen:
        raw = seen.raws[chosen]
        st.caption(
            t(
                "exit code {code}, {seconds} s",
                code=raw.code if raw.code is not None else "–",
                seconds=raw.seconds if raw.seconds is not None else "–",
            )
        )
        st.code(raw.text or t("(it printed nothing)"), language=None)


def host_card(host: Host) -> None:
    """One host: how it is reached, when it last said something of itself, and what it said."""
    seen = observe.latest(host)
    with st.container(border=True, key=f"host-{host.id}"):
        head = st.columns([5, 3, 2], vertical_alignment="center")
        head[0].subheader(_name(host), anchor=False)
        head[1].caption(t("asked about itself {ago}", ago=ago(seen.time)) if seen else t("not asked yet"))
        head[2].button(
            t("Look again"),
            key=f"probe-{host.id}",
            on_click=attempt,
            args=(path.start, "check", host.id),
            kwargs={"actor": who()},
        )
        _way(host)
        rehearsal_view.state(host)
        st.caption(t("work folder: {folder}", folder=host.work_folder))
        if host.reach is not None:
            reach_view.buttons(host)
            reach_view.result(host)
            reach_view.edit_form(host)
        _job(host)
        if seen is None:
            st.info(t("Nothing is known of this host yet. “Look again” asks it; it takes about a second."))
        else:
            result_line(host)
        if seen is not None and (host.reach is None or st.toggle(t("What it said of itself"), key=f"said-{host.id}")):
            facts_table(seen)


def look_at_all(hosts: Sequence[Host]) -> None:
    """Queue a check of every host; the worker asks them side by side, each for itself."""
    for host in hosts:
        attempt(path.start, "check", host.id, actor=who())


def chosen_host() -> Host:
    """The host in the address line, else the last one, else this machine; the reader can choose among several."""
    by_id = {one.id: one for one in (inventory.this_machine(), *inventory.hosts())}
    warn_unknown("host", [str(one) for one in by_id], say("a host"))
    if len(by_id) == 1:
        return next(iter(by_id.values()))
    st.session_state["chosen-host"] = kept_host(list(by_id))

    def go() -> None:
        st.query_params["host"] = str(st.session_state["chosen-host"])

    number = st.selectbox(
        t("Host"),
        list(by_id),
        key="chosen-host",
        on_change=go,
        format_func=lambda one: _name(by_id[one]),
    )
    return by_id[number]


def _name(host: Host) -> str:
    """As a heading: a name that somebody gave stays as it was given."""
    return sentence_case(words(host.title)) if host.reach is None else words(host.label).replace("_", "\\_")


def _way(host: Host) -> None:
    if host.reach is not None:
        tags = "".join(f" · {tag}" for tag in host.tags)
        st.text(" → ".join(str(hop) for hop in host.reach.hops) + tags)


def _job(host: Host) -> None:
    """What is at work on the host, or why the last check came to nothing."""
    running = history.jobs(1, host_id=host.id, active_only=True)
    if running:
        st.page_link(
            "job.py",
            label=t("A job is at work on it"),
            query_params={"job": str(running[0].id)},
            icon=":material/list:",
        )
        return
    last = history.latest("check", host.id)
    asked = last is not None and any(step.step.action == "probe" and step.state == "failed" for step in last.steps)
    if last is not None and asked:
        st.error(marked(last.reason), icon=":material/link_off:")
