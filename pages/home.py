"""Home: where the pilot stands and what is next."""

import streamlit as st

from console.hosts import inventory
from console.surface.stages_view import pilot_path
from console.surface.ui import t, title

title(
    t("Pilot on this machine"),
    t("From a bare host to a measured answer. Start it once; leave this page whenever you like, it goes on."),
)
pilot_path(inventory.this_machine())
with st.expander(t("What happens"), key="what-happens"):
    st.markdown(
        t(
            "The console asks this machine about itself and compares the answers with what a pilot needs, installs a "
            "vLLM that computes on the CPU, prepares a small real model, starts it, asks it a first question and "
            "measures how fast it answers. Every step can be read before it runs, on the Install and Launch pages. "
            "Nothing is sent anywhere but to this machine; only the installation fetches packages, from the package "
            "index that pip is set up for."
        )
    )
