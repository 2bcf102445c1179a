"""History: every job and every event, each with its address."""

import streamlit as st

from console.hosts import commands
from console.jobs import history
from console.surface.commands_view import commands_view
from console.surface.history_view import events_table, jobs_table
from console.surface.ui import empty, number_in_url, t, title

title(
    t("History"),
    t(
        "Every job with its steps and logs, every move of every instance with its reason, and every command that was "
        "sent: when, and by whom."
    ),
)
shown = min(number_in_url("shown") or 30, 1000)
jobs = history.jobs(shown + 1)
if not jobs and not commands.commands(limit=1):
    empty(t("Nothing was done yet. Start the pilot on Home."), "home.py", t("Home"))
else:
    tabs = st.tabs([t("Jobs"), t("Events"), t("Commands")], key="history-tabs", on_change="rerun")
    if tabs[0].open:
        with tabs[0]:
            jobs_table(jobs[:shown])
            if len(jobs) > shown:
                st.page_link("history.py", label=t("Show more"), query_params={"shown": str(shown + 100)})
    if tabs[1].open:
        with tabs[1]:
            subject = st.text_input(t("Only of (for example instance:1)"), key="subject", bind="query-params")
            events_table(history.events(subject or None))
    if tabs[2].open:
        with tabs[2]:
            commands_view()
