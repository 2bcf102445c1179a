"""Models: the folders of weights a server can be started with, what is wrong with them, and how to get more."""

import streamlit as st

from console.serving import launch
from console.serving.placed import place_on
from console.surface.get_model_view import get_model, search
from console.surface.hosts_view import chosen_host
from console.surface.models_view import all_models, model_row, models_of
from console.surface.no_model_view import nothing_here
from console.surface.ui import attempt, t, title, who
from console.surface.way_back import way_back

title(t("Models"), t("Folders with weights in the Hugging Face format, each looked through before it is used."))
way_back()
st.page_link("fit.py", label=t("Will a model fit on my cards?"), icon=":material/straighten:")
all_models()
host = chosen_host()
seen = search(host)
found = models_of(host)
place = place_on(host)
for model in found or []:
    model_row(host, model, place)
others = [one for one in (seen.models if seen else ()) if one.folder not in {each.folder for each in found or []}]
if others:
    st.subheader(t("Found elsewhere on this host"), anchor=False)
    for model in others:
        model_row(host, model, place, listed=False)
if found == [] and not others:
    nothing_here(host)
get_model(host, open_it=found == [] and not others)

with st.form("add-model", clear_on_submit=False):
    st.text_input(t("Add a folder: its whole path"), key="model-folder", placeholder="/data/models/DeepSeek-R1-Distill")
    if st.form_submit_button(t("Look through it and add it")):
        added = attempt(launch.add_model, host, st.session_state["model-folder"], actor=who())
        if added is not None:
            st.toast(t("Added."))
        st.rerun()
