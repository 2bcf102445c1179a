"""One job: its steps, their logs and what a person can do about it."""

import streamlit as st

from console.errors import NotFound
from console.hosts import inventory
from console.jobs import history
from console.surface.history_view import events_table
from console.surface.jobs_view import job_panel
from console.surface.ui import clock, empty, number_in_url, t, title, words

job_id = number_in_url("job")
try:
    job = None if job_id is None else history.job(job_id)
except NotFound:
    job = None

if job is None:
    title(t("Job"))
    empty(t("There is no such job. History lists them all."), "history.py", t("History"))
else:
    host = inventory.host(job.host_id)
    title(
        f"#{job.id} {words(job.title)}",
        t("asked by {actor} on {when} · {host}", actor=job.actor, when=clock(job.created), host=host.title),
    )
    job_panel(job.id)
    with st.expander(t("Events"), key="job-events"):
        events_table(history.events(f"job:{job.id}"))
    path = history.journey(job.journey)
    if len(path) > 1:
        with st.container(horizontal=True):
            st.caption(t("The same path:"))
            for one in path:
                st.page_link(
                    "job.py",
                    label=f"#{one.id} {words(one.title)}",
                    query_params={"job": str(one.id)},
                    disabled=one.id == job.id,
                )
