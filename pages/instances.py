"""Instances: the vLLM servers, how each is, and starting, stopping, restarting them."""

import streamlit as st

from console.serving import instances
from console.surface.instances_view import instance_card
from console.surface.ui import empty, t, title
from console.surface.way_back import way_back

title(t("Instances"), t("Ready means: it answers, and its answer to a simple question was right."))
way_back()


@st.fragment(run_every=2.0)
def table() -> None:
    known = instances.instances()
    if not known:
        empty(t("No server yet. Launch starts one; the pilot on Home does it by itself."), "launch.py", t("Launch"))
    for one in known:
        instance_card(one)


table()
