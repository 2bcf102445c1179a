"""Hosts: the machines we may reach, with what they said of themselves."""

import streamlit as st

from console.hosts import inventory
from console.jobs import history
from console.surface import rehearsal_view
from console.surface.cards_view import cards_view
from console.surface.hosts_view import host_card, look_at_all
from console.surface.import_view import import_button
from console.surface.reach_view import add_form
from console.surface.ui import t, title

TICK_S = 1.0

title(t("Hosts"), t("The machines of the pilot. This machine is always one of them."))
hosts = inventory.hosts()
at_work = {job.id for job in history.jobs(active_only=True)}


@st.fragment(run_every=TICK_S if at_work else None)
def watch() -> None:
    """Show the page anew when a job has ended or begun; a page where nothing moves does not tick."""
    if at_work and {job.id for job in history.jobs(active_only=True)} != at_work:
        st.rerun()


def look_at() -> None:
    """Write the chosen view into the address line."""
    st.query_params["view"] = st.session_state["view"]


views = {"hosts": t("Hosts"), "cards": t("Cards")}
asked = st.query_params.get("view")
st.session_state["view"] = asked if asked in views else "hosts"  # the address line leads; its words know no language
view = st.segmented_control(
    t("View"),
    list(views),
    format_func=views.__getitem__,
    key="view",
    required=True,
    label_visibility="collapsed",
    on_change=look_at,
)
if view == "hosts":
    add_form()
    rehearsal_view.add_form()
tags = sorted({tag for host in hosts for tag in host.tags})
with st.container(horizontal=True, vertical_alignment="bottom"):
    if view == "hosts":
        import_button()
    if view == "hosts" and len(hosts) > 1:
        st.button(t("Look at all again"), key="probe-all", on_click=look_at_all, args=(hosts,))
    wanted = st.pills(t("Only with the tag"), tags, key="tag", bind="query-params") if tags else None
hosts = [host for host in hosts if wanted is None or wanted in host.tags]
if view == "cards":
    cards_view(hosts)
else:
    for host in hosts:
        host_card(host)
watch()
