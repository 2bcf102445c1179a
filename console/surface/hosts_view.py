"""What a host said of itself: a table of values, each with the raw output behind it."""

import streamlit as st

from console.hosts.observe import Seen
from console.surface.ui import t, words


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
