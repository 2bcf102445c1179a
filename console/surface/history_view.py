"""Tables of what happened."""

from collections.abc import Sequence

import streamlit as st

from console.jobs.history import EventView, JobView
from console.surface.ui import clock, empty, mark, span, state_word, t, words


def events_table(events: Sequence[EventView]) -> None:
    """One line an event, the latest first."""
    if not events:
        st.caption(t("Nothing happened yet."))
        return
    rows = [
        {
            t("when"): clock(event.time),
            t("what"): event.subject,
            t("from"): words(state_word(event.was)) if event.was else "",
            t("to"): words(state_word(event.became)),
            t("who"): event.actor,
            t("why"): words(event.reason),
        }
        for event in events
    ]
    st.dataframe(rows, hide_index=True, key="events-table")


def jobs_table(jobs: Sequence[JobView]) -> None:
    """One line a job, the latest first; its name opens it."""
    if not jobs:
        empty(t("No job has run yet. Home starts the pilot of a host, which is the first one."), "home.py", t("Home"))
        return
    with st.container(key="job-list"):
        widths = [5, 2, 1.2, 1.6, 2.6, 1.8]
        heads = (t("job"), t("state"), t("steps"), t("who"), t("asked"), t("took"))
        for column, head in zip(st.columns(widths), heads, strict=True):
            column.caption(head)
        for job in jobs:
            columns = st.columns(widths, vertical_alignment="center")
            columns[0].page_link("job.py", label=f"#{job.id} {words(job.title)}", query_params={"job": str(job.id)})
            columns[1].markdown(mark(job.state))
            columns[2].markdown(f"{job.done}/{len(job.steps)}")
            columns[3].markdown(job.actor)
            columns[4].markdown(clock(job.created))
            columns[5].markdown(span(job.elapsed))
