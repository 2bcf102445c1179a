"""Launch: choose a model, see the exact command, start."""

import streamlit as st

from console.hosts import inventory
from console.serving import launch
from console.surface.launch_view import chosen_spec, command_preview, start_button
from console.surface.models_view import summary
from console.surface.ui import empty, marked, t, title

host = inventory.this_machine()
title(t("Launch"), t("Choose a model and start it. Everything else has a value that works here."))

usable = [model for model in launch.models_on(host) if not any(problem.is_error for problem in model.problems)]
if not usable:
    empty(
        t("No model can be served yet. Install prepares two small ones; Models takes a folder of your own."),
        "install.py",
        t("Install"),
    )
else:
    folders = [model.folder for model in usable]
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
    spec = chosen_spec(host, model)
    if spec is not None:
        reasons = launch.reasons_against(host, spec)
        for refusal in reasons:
            st.error(
                marked(refusal.reason) + (f" {marked(refusal.instead)}" if refusal.instead else ""),
                icon=":material/block:",
            )
        start_button(host, model, spec, refused=bool(reasons))
        command_preview(host, spec)
