"""How the last checklist of a host stands, wherever something is about to be done to it."""

import time
from collections import Counter
from collections.abc import Iterable

import streamlit as st

from console.checks import WAIVED, Judged, Level
from console.hosts import observe
from console.hosts.inventory import Host
from console.hosts.observe import Checked
from console.jobs.stages import LIMITS
from console.jobs.ways import way_of
from console.surface.ui import ago, mark, marked, t, words
from console.text import say

MOST_NAMED = 6
TOGETHER = "installed_parts_fit"
"""The check whose failure is told on the host itself."""


def warn_of_failed(host: Host) -> None:
    """Before an installation: the checks that failed, with the way to them; nothing where none did."""
    checked, profile = _last(host)
    failed = [] if checked is None else [one for one in checked.judged if one.failed]
    if checked is None or not failed:
        return
    names = " · ".join(words(one.title) for one in failed[:MOST_NAMED])
    with st.container(key="failed-checks", gap="xsmall"):
        st.warning(
            marked(
                say(
                    "Checks that failed on {host}, asked {ago}: {names}. An installation brings driver, CANN and "
                    "packages at most; whatever else fails should be mended first.",
                    host=host.title,
                    ago=ago(checked.time),
                    names=names + (" …" if len(failed) > MOST_NAMED else ""),
                )
            ),
            icon=":material/warning:",
        )
        to_checklist(host, profile)


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
