"""Install: what will be done to bring vLLM onto the host, step by step, before and while it happens."""

import streamlit as st

from console.errors import ConsoleError
from console.hosts import installed
from console.jobs import history, path, stacks, ways
from console.surface.bundle_view import bundle_section
from console.surface.hosts_view import chosen_host
from console.surface.install_view import choose_and_start, what_comes_next
from console.surface.jobs_view import job_panel
from console.surface.plan_view import plan_preview
from console.surface.removal_view import removal_section
from console.surface.results_view import results_section
from console.surface.standing_view import ask_first, warn_of_failed
from console.surface.ui import ago, attempt, mark, marked, t, title, who, words
from console.surface.way_back import way_back

about = t("What is needed to serve a model on the host: for its NPUs, or for its CPU with two small models.")
title(t("Install"), about)
way_back()
host = chosen_host()
backend = ways.way_of(host).backend
on_npus = backend in stacks.ROUTES

found = installed.runtime(host, backend)
jobs = filter(None, (history.latest(kind, host.id) for kind in ("install", "remove")))
last = max(jobs, key=lambda job: job.id, default=None)
running = last is not None and last.active
if found is not None:
    st.markdown(f"{mark('ok' if found.complete else 'todo')} {marked(found.words)} · {ago(found.time)}")
    if found.complete:
        what_comes_next(host)
warn_of_failed(host)
asked = ask_first(host)
with st.container(horizontal=True, vertical_alignment="center"):
    if not on_npus:
        st.button(
            t("Install"),
            key="install-now",
            type="secondary" if found and found.complete else "primary",
            icon=":material/download:",
            disabled=running or not asked,
            on_click=attempt,
            args=(path.start, "install", host.id),
            kwargs={"actor": who()},
            help=t("A job is at work on it.") if running else t("What is there already is kept."),
        )
    st.button(
        t("Look whether it is still as installed"),
        key="look-runtime",
        on_click=attempt,
        args=(installed.look, host, backend),
        kwargs={"actor": who()},
    )

if last is not None:
    with st.container(border=True, key="install-job"):
        st.page_link("job.py", label=f"#{last.id} {words(last.title)}", query_params={"job": str(last.id)})
        job_panel(last.id)
if on_npus:
    stack = choose_and_start(host, running=running)
else:
    stack = None
    with st.expander(t("What an installation does, step by step"), expanded=last is None, key="install-plan"):
        try:
            plan = path.planned("install", host)
            plan_preview(host, plan.kind, plan.title, plan.steps)
        except ConsoleError as error:
            st.error(marked(error.text))
results_section(host)
if on_npus:
    removal_section(host, running=running)
bundle_section(host, stack)
