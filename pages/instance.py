"""One instance: its state with the evidence, its attempts and logs, its events."""

import streamlit as st

from console.errors import NotFound
from console.jobs import history
from console.serving import instances
from console.surface.history_view import events_table, jobs_table
from console.surface.instances_view import attempts_view, buttons, delete_button
from console.surface.ui import ago, empty, mark, marked, number_in_url, span, t, title, words

instance_id = number_in_url("instance")
try:
    found = None if instance_id is None else instances.instance(instance_id)
except NotFound:
    found = None


@st.fragment(run_every=1.0)
def state(number: int) -> None:
    one = instances.instance(number)
    st.markdown(
        f"{mark(one.state)} · {marked(one.reason)}"
        + (f" · {t('looked at')} {ago(one.observed)}" if one.observed and one.attempt else "")
    )
    buttons(one)
    evidence = one.health.get("evidence")
    if isinstance(evidence, dict):
        st.markdown(
            t(
                "Asked: “{question}” after {span}",
                question=str(evidence["question"]),
                span=span(evidence.get("latency_s")),
            )
        )
        st.code(str(evidence["answer"]), language=None, wrap_lines=True)
    active = [job for job in history.for_subject(one.subject, 1) if job.active]
    if active:
        st.page_link(
            "job.py", label=words(active[0].title), query_params={"job": str(active[0].id)}, icon=":material/list:"
        )


if found is None:
    title(t("Instance"))
    empty(t("There is no such instance. Instances lists them all."), "instances.py", t("Instances"))
else:
    note = t("random weights: its words are noise") if found.noise else ""
    title(
        found.name, " · ".join(part for part in (found.backend, found.address, found.spec.model_folder, note) if part)
    )
    state(found.id)
    st.subheader(t("Attempts and their logs"), anchor=False)
    attempts_view(found)
    with st.expander(t("Jobs"), key="instance-jobs"):
        jobs_table(history.for_subject(found.subject))
    with st.expander(t("Events"), key="instance-events"):
        events_table(history.events(found.subject))
    delete_button(found)
