"""Every host in a line with where its pilot stands, for whoever has several."""

from collections.abc import Sequence

import streamlit as st

from console.hosts.inventory import Host
from console.jobs.jobs import say_state
from console.jobs.overview import Standing, overview
from console.jobs.states import ACTIVE, JobState
from console.surface.ui import ago, mark, sentence_case, t, words
from console.text import Text, say

KINDS: dict[str, Text] = {
    "check": say("Check"),
    "install": say("Install"),
    "start": say("Serve"),
    "try": say("Try"),
    "measure": say("Measure"),
}


@st.fragment(run_every=5.0)
def host_list(hosts: Sequence[Host], chosen: Host) -> None:
    """The lines; the chosen host's is marked. Each leads to that host's pilot."""
    with st.container(border=True, key="host-list"):
        for one in overview(hosts):
            _line(one, chosen=one.host.id == chosen.id)


def _line(one: Standing, *, chosen: bool) -> None:
    columns = st.columns([3, 2.6, 6, 2.2], vertical_alignment="center")
    name = sentence_case(words(one.host.title)) if one.host.reach is None else words(one.host.label).replace("_", "\\_")
    if chosen:
        columns[0].markdown(f"▸ **{name}**")
    else:
        columns[0].page_link("home.py", label=name, query_params={"host": str(one.host.id)})
    if one.ready:
        columns[1].markdown(mark("ready"))
    elif one.state in (*ACTIVE, JobState.FAILED):
        columns[1].markdown(mark(str(one.state)))
    if one.kind is None or one.state is None:
        columns[2].caption(t("the pilot was not begun"))
        return
    parts = [words(KINDS[one.kind]), words(say_state(one.state)), words(one.reason)]
    columns[2].text(" · ".join(part for part in parts if part))
    columns[3].caption(ago(one.moved))
