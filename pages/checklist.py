"""Checklist: what the pilot needs, what the host has, and how to fix what is missing."""

import streamlit as st

from console.checks import Level
from console.hosts import observe
from console.jobs import history, path
from console.surface.checks_view import check_line, chosen_profile, tally
from console.surface.hosts_view import chosen_host
from console.surface.ui import ago, attempt, empty, t, title, who

title(t("Checklist"), t("Every line shows what was seen, what is needed, why, and how to fix it."))
host = chosen_host()
profile = chosen_profile(observe.profiles_of(host))

busy = history.jobs(1, host_id=host.id, active_only=True)
with st.container(horizontal=True, vertical_alignment="center"):
    st.button(
        t("Check now"),
        key="check-now",
        type="primary",
        icon=":material/refresh:",
        on_click=attempt,
        args=(path.start, "check", host.id),
        kwargs={"actor": who()},
    )
    if busy and busy[0].kind == "check":
        st.page_link("job.py", label=t("The check runs"), query_params={"job": str(busy[0].id)})


@st.fragment(run_every=1.0 if busy else 30.0)
def results() -> None:
    if busy and not history.job(busy[0].id).active:
        st.rerun()
    checked = observe.judged(host, profile)
    if checked is None:
        if host.reach is None:
            empty(t("This machine has not been checked yet. “Check now” asks it; it takes about a second."))
        else:
            empty(t("{host} has not been checked yet. “Check now” asks it.", host=host.name))
        return
    st.markdown(f"{tally(checked.judged)} · {ago(checked.time)}")
    only = st.toggle(t("Hide what passed"), key="only-bad", bind="query-params")
    for one in checked.judged:
        if not only or one.verdict.level != Level.PASS:
            check_line(one, checked)


results()
