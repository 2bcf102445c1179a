"""Checklist: what the pilot needs, what the host has, and how to fix what is missing."""

import streamlit as st

from console.hosts import inventory
from console.surface.checks_view import one_host
from console.surface.compare_view import comparison, first_pair
from console.surface.matrix_view import ALL, matrix
from console.surface.profile_view import profiles
from console.surface.ui import t, title
from console.surface.way_back import way_back

title(t("Checklist"), t("Every line shows what was seen, what is needed, why, and how to fix it."))
way_back()
hosts = {host.id: host for host in (inventory.this_machine(), *inventory.hosts())}
names = {"one": t("One host"), "compare": t("Two hosts side by side"), "hosts": t("Several hosts")}
view = next((name for name in ("compare", "hosts") if name in st.query_params), "one") if len(hosts) > 1 else "one"


def go() -> None:
    """The view stands in the address line, so that a reload or a sent link shows it again."""
    chosen = st.session_state["checklist-view"]
    for name in ("compare", "hosts"):
        st.query_params.pop(name, None)
    if chosen != "one":
        st.query_params[chosen] = first_pair() if chosen == "compare" else ALL


if len(hosts) > 1:
    st.session_state["checklist-view"] = view
    st.segmented_control(
        t("View"),
        list(names),
        key="checklist-view",
        required=True,
        on_change=go,
        format_func=names.__getitem__,
        label_visibility="collapsed",
    )
if view == "compare":
    comparison(hosts)
elif view == "hosts":
    matrix(hosts)
else:
    one_host()
profiles()
