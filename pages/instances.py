"""Instances: the vLLM servers, how each is, and starting, stopping, restarting them."""

import streamlit as st

from console.serving import instances
from console.surface.instances_view import buttons
from console.surface.ui import empty, mark, t, title, words

title(t("Instances"), t("Ready means: it answers, and its answer to a simple question was right."))


@st.fragment(run_every=2.0)
def table() -> None:
    known = instances.instances()
    if not known:
        empty(t("No server yet. Launch starts one; the pilot on Home does it by itself."), "launch.py", t("Launch"))
    for one in known:
        with st.container(border=True, key=f"instance-{one.id}"):
            columns = st.columns([3, 2, 5, 4], vertical_alignment="center")
            columns[0].page_link("instance.py", label=f"**{one.name}**", query_params={"instance": str(one.id)})
            columns[0].caption(f"{one.backend} · {one.address} · {t('attempt {n}', n=one.attempt)}")
            columns[1].markdown(mark(one.state))
            columns[2].markdown(words(one.reason))
            if one.noise:
                columns[2].caption(t("random weights: its words are noise"))
            with columns[3]:
                buttons(one)


table()
