"""Hosts: the machines we may reach, with what they said of themselves."""

import streamlit as st

from console.hosts import inventory, observe
from console.jobs import history, path
from console.surface.hosts_view import facts_table
from console.surface.ui import ago, attempt, sentence_case, t, title, who, words

title(t("Hosts"), t("The machines of the pilot. This machine is always one of them."))
for host in inventory.hosts():
    with st.container(border=True, key=f"host-{host.id}"):
        seen = observe.latest(host)
        head = st.columns([5, 3, 2], vertical_alignment="center")
        head[0].subheader(sentence_case(words(host.title)), anchor=False)
        head[1].caption(t("asked about itself {ago}", ago=ago(seen.time)) if seen else t("not asked yet"))
        head[2].button(
            t("Look again"),
            key=f"probe-{host.id}",
            on_click=attempt,
            args=(path.start, "check", host.id),
            kwargs={"actor": who()},
        )
        st.caption(t("work folder: {folder}", folder=host.work_folder))
        if seen is None:
            st.info(t("Nothing is known of this host yet. “Look again” asks it; it takes about a second."))
        else:
            facts_table(seen)
        running = history.jobs(1, host_id=host.id, active_only=True)
        if running:
            st.page_link(
                "job.py",
                label=t("A job is at work on it"),
                query_params={"job": str(running[0].id)},
                icon=":material/list:",
            )
