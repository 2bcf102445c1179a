"""Launch: choose a model, see the exact command, start."""

import streamlit as st

from console.serving import launch
from console.surface.hosts_view import chosen_host
from console.surface.launch_view import chosen_spec, command_preview, machine_now, start_button
from console.surface.models_view import models_of, summary
from console.surface.ui import empty, marked, t, title, warn_unknown
from console.surface.way_back import way_back
from console.text import say

title(t("Launch"), t("Choose a model and start it. Everything else has a value that works here."))

way_back()
st.page_link("fit.py", label=t("Will a model fit on my cards?"), icon=":material/straighten:")
host = chosen_host()
found = models_of(host)
usable = [model for model in found or [] if model.usable]
if found is not None and not usable:
    empty(
        t("No model can be served yet. Install prepares two small ones; Models takes a folder of your own."),
        "install.py",
        t("Install"),
        {"host": str(host.id)},
    )
elif usable:
    folders = [model.folder for model in usable]
    warn_unknown("model", folders, say("a model"))
    asked = st.query_params.get("model", "")
    folder = st.selectbox(
        t("Model"),
        folders,
        key="launch-model",
        index=folders.index(asked) if asked in folders else 0,
        format_func=lambda one: one.rsplit("/", 1)[-1],
    )
    model = next(model for model in usable if model.folder == folder)
    st.caption(summary(model))
    if model.noise:
        st.warning(
            t(
                "This model has random weights: it produces words, and they mean nothing. It is here to try "
                "parallel serving."
            ),
            icon=":material/warning:",
        )
    now = machine_now(host)
    if now is not None:
        spec = chosen_spec(model, now)
        reasons = launch.reasons_against(host, spec, now=now)
        for refusal in reasons:
            st.error(
                marked(refusal.reason) + (f" {marked(refusal.instead)}" if refusal.instead else ""),
                icon=":material/block:",
            )
        start_button(host, model, spec, refused=bool(reasons))
        command_preview(host, spec)
