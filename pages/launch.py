"""Launch: choose a model, see whether it fits and the exact command, start."""

import streamlit as st

from console.catalog import parsers
from console.serving import deep_link
from console.serving.offering import asked_model, ways
from console.surface.hosts_view import chosen_host
from console.surface.launch_view import Wanted, asked_now, chosen_way, cpu_form, look_again
from console.surface.models_view import summary
from console.surface.no_model_view import not_here, nothing_to_launch, without_the_models_own
from console.surface.npu_launch_view import npu_form
from console.surface.paste_view import paste, taken
from console.surface.ui import empty, marked, t, title
from console.surface.way_back import way_back

title(t("Launch"), t("Choose a model and start it. Everything else has a value that works here."))

way_back()
with st.container(horizontal=True, vertical_alignment="center"):
    st.page_link("fit.py", label=t("Will a model fit on my cards?"), icon=":material/straighten:")
    st.button(t("Look again"), key="launch-again", on_click=look_again, icon=":material/refresh:")
pasted = st.container()
left, right = st.columns([3, 2], gap="medium")
with left:
    host = chosen_host()
    offering = asked_now(host)
usable = [model for model in offering.models if model.usable] if offering is not None else []
link = deep_link.read(dict(st.query_params))
stated = {**link.fields, **taken(host.id)}
asked = str(stated.get("model_folder") or st.query_params.get("model", ""))
chip = next((card.chip.name for card in offering.cards if card.chip.name), "") if offering is not None else ""
if offering is not None and not usable:
    first = next((one.release for one in ways(host)), "")
    with pasted:
        paste(host.id, first or parsers.newest_stable(), chip, fills=False)
    if asked:
        not_here(host, asked, stated.get("context"), others=False)
    nothing_to_launch(host)
elif offering is not None:
    with left:
        for said in link.left:
            st.warning(marked(said), icon=":material/search_off:")
        meant = asked_model(usable, asked)
        if meant is None and asked:
            not_here(host, asked, stated.get("context"), others=True)
            stated = without_the_models_own(stated, asked)
        folders = [model.folder for model in usable]
        folder = st.selectbox(
            t("Model"),
            folders,
            key="launch-model" if not taken(host.id) else f"launch-model-{asked}",
            index=0 if meant is None else folders.index(meant.folder),
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
        way = chosen_way(ways(host), str(stated.get("backend") or st.query_params.get("backend", "")))
    fields = {name: value for name, value in stated.items() if name not in ("model_folder", "backend")}
    if way is None:
        with pasted:
            paste(host.id, parsers.newest_stable(), chip, fills=False)
        empty(t("vLLM is not installed on this host, and no release is chosen for it."), "install.py", t("Install"),
              {"host": str(host.id)})  # fmt: skip
    else:
        wanted = Wanted(offering, way, model, fields)
        with pasted:
            paste(host.id, way.release or parsers.newest_stable(), chip)
        if way.on_npus:
            npu_form(wanted, left, right)
        else:
            cpu_form(wanted, right)
