"""Install: what will be done to bring vLLM onto the host, step by step, before and while it happens."""

import streamlit as st

from console.errors import ConsoleError
from console.hosts import observe
from console.jobs import history, path
from console.surface.hosts_view import chosen_host
from console.surface.jobs_view import job_panel
from console.surface.plan_view import plan_preview
from console.surface.ui import ago, attempt, mark, marked, t, title, who, words
from console.surface.way_back import way_back

title(t("Install"), t("vLLM for the CPU of the host, with two small models to try it out."))
way_back()
host = chosen_host()

found = observe.runtime(host)
last = history.latest("install", host.id)
if found is not None:
    st.markdown(f"{mark('ok' if found.complete else 'todo')} {marked(found.words)} · {ago(found.time)}")
running = last is not None and last.active
with st.container(horizontal=True, vertical_alignment="center"):
    st.button(
        t("Install"),
        key="install-now",
        type="secondary" if found and found.complete else "primary",
        icon=":material/download:",
        disabled=running,
        on_click=attempt,
        args=(path.start, "install", host.id),
        kwargs={"actor": who()},
        help=t("It is being installed.") if running else t("What is there already is kept."),
    )
    st.button(
        t("Look whether it is still as installed"),
        key="look-runtime",
        on_click=attempt,
        args=(observe.look_at_runtime, host),
        kwargs={"actor": who()},
    )

if last is not None:
    with st.container(border=True, key="install-job"):
        st.page_link("job.py", label=f"#{last.id} {words(last.title)}", query_params={"job": str(last.id)})
        job_panel(last.id)
with st.expander(t("What an installation does, step by step"), expanded=last is None, key="install-plan"):
    try:
        plan_preview(path.planned("install", host).steps)
    except ConsoleError as error:
        st.error(marked(error.text))
