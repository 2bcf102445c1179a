"""How the last checklist of a host stands, wherever something is about to be done to it."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence

import streamlit as st

from console.checks import WAIVED, Judged, Level
from console.hosts import observe
from console.hosts.inventory import Host
from console.hosts.observe import Checked
from console.jobs import path
from console.jobs.stacks import target
from console.jobs.stages import LIMITS
from console.jobs.ways import way_of
from console.surface.ui import ago, attempt, mark, marked, t, who, words
from console.text import say

MOST_NAMED = 6
TOGETHER = "installed_parts_fit"
"""The check whose failure is told on the host itself."""
FOR_WANT_OF_A_DRIVER = ("driver_installed", "cards_in_npu_smi")
"""Checks that fail on every host that has no driver; there they are no reason against installing it."""


def warn_of_failed(host: Host) -> None:
    """Before an installation: the checks that failed, with the way to them; nothing where none did."""
    checked, profile = _last(host)
    failed = [] if checked is None else [one for one in checked.judged if one.failed]
    if checked is None or not failed:
        return
    brought = [one for one in failed if one.name in FOR_WANT_OF_A_DRIVER and target(host).driver is None]
    others = [one for one in failed if one not in brought]
    with st.container(key="failed-checks", gap="xsmall"):
        if brought:
            told = say(
                "{host} has no driver yet, so these checks fail: {names}. An installation brings the driver.",
                host=host.title,
                names=_names(brought),
            )
            st.info(marked(told), icon=":material/info:")
        if others:
            told = say(
                "Checks that failed on {host}, asked {ago}: {names}. An installation brings driver, CANN and "
                "packages at most; whatever else fails should be mended first.",
                host=host.title,
                ago=ago(checked.time),
                names=_names(others),
            )
            st.warning(marked(told), icon=":material/warning:")
        to_checklist(host, profile)


def _names(failed: Sequence[Judged]) -> str:
    return " · ".join(words(one.title) for one in failed[:MOST_NAMED]) + (" …" if len(failed) > MOST_NAMED else "")


def ask_first(host: Host) -> bool:
    """Whether a host over SSH was asked about itself; if not, the reader is told, with the button that asks it."""
    if host.reach is None or observe.latest(host) is not None:
        return True
    with st.container(key="ask-first", gap="xsmall"):
        st.warning(
            t(
                "Whether this host has NPUs is not known yet, and what is installed depends on it. Below stands what "
                "its CPU would get. Ask it first; that takes some seconds."
            ),
            icon=":material/warning:",
        )
        st.button(
            t("Look again"),
            key=f"ask-{host.id}",
            type="primary",
            on_click=attempt,
            args=(path.start, "check", host.id),
            kwargs={"actor": who()},
        )
    return False


def result_line(host: Host) -> None:
    """How many checks passed and failed when the host was last asked, with the way to each of them."""
    checked, profile = _last(host)
    if checked is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"standing-{host.id}"):
        answered = host.reach is not None and time.time() - checked.time <= LIMITS["host"]
        counts = tally(one.standing for one in checked.judged)
        st.markdown(f"{mark('reachable')} · {counts}" if answered else counts, width="content")
        to_checklist(host, profile)
    for one in checked.judged:
        if one.name == TOGETHER and one.failed:
            _conflict(host, one)


def _conflict(host: Host, judged: Judged) -> None:
    """Installed versions that do not go together, and the next package: nothing will run before that is mended."""
    with st.container(key=f"conflict-{host.id}", gap="xsmall"):
        st.markdown(f"{mark('fail')} **{words(judged.title)}** · {marked(judged.verdict.seen)}")
        if judged.verdict.fix is not None:
            st.markdown(marked(judged.verdict.fix))


def tally(standings: Iterable[str]) -> str:
    """How many of each level, as Markdown; what is waived is counted apart."""
    found = Counter(standings)
    return " · ".join(f"{mark(name)} {found[name]}" for name in (*Level, WAIVED) if found[name])


def to_checklist(host: Host, profile: str) -> None:
    st.page_link(
        "checklist.py",
        label=t("Open the Checklist"),
        query_params={"host": str(host.id), "profile": profile},
        icon=":material/fact_check:",
    )


def _last(host: Host) -> tuple[Checked | None, str]:
    """Judged by the profile of the way on which the host goes."""
    seen = observe.latest(host)
    profile = way_of(host, seen).profile
    return None if seen is None else observe.judged_of(host, seen, profile), profile
