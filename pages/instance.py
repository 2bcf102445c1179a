"""One instance: its state with the evidence, its attempts and logs, its events."""

import streamlit as st

from console.errors import NotFound
from console.jobs import history
from console.serving import instances
from console.surface.export_view import exports_of, settings_link
from console.surface.history_view import events_table, jobs_table
from console.surface.instances_view import about, attempts_view, delete_button, state_view
from console.surface.ui import empty, number_in_url, t, title

instance_id = number_in_url("instance")
try:
    found = None if instance_id is None else instances.instance(instance_id)
except NotFound:
    found = None


if found is None:
    title(t("Instance"))
    empty(t("There is no such instance. Instances lists them all."), "instances.py", t("Instances"))
else:
    note = t("random weights: its words are noise") if found.noise else ""
    parts = (about(found), found.spec.model_folder, note)
    title(found.name, " · ".join(part for part in parts if part))
    state_view(found.id)
    settings_link(found)
    st.subheader(t("Attempts and their logs"), anchor=False)
    attempts_view(found.id)
    with st.expander(t("Take it elsewhere, as a file"), key="instance-exports"):
        exports_of(found)
    with st.expander(t("Jobs"), key="instance-jobs"):
        jobs_table(history.for_subject(found.subject))
    with st.expander(t("Events"), key="instance-events"):
        events_table(history.events(found.subject))
    delete_button(found)
