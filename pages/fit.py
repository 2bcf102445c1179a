"""Fit: will a model fit on some cards, with which settings, and what would fit instead."""

import streamlit as st

from console.serving.fit import fit
from console.serving.remarks import remarks
from console.surface import fit_answer_view as shown
from console.surface.fit_view import asked_about, asked_host, chosen_card, chosen_model, chosen_wish
from console.surface.launch_link import launch_link
from console.surface.ui import marked, t, title

title(t("Fit"), t("Will a model fit on these cards? Everything is computed before anything is started."))
with st.container(horizontal=True):
    st.page_link("models.py", label=t("Models"), icon=":material/deployed_code:")
    st.page_link("launch.py", label=t("Launch"), icon=":material/rocket_launch:")

asked = asked_host()
named_model = chosen_model(asked)
found = asked_about(asked, named_model)
card, count, host_id = chosen_card()
if found is not None:
    shape, model, named = found
    wish = chosen_wish(shape, named, count)
    answer = fit(shape, card, wish)
    shown.verdict(answer)
    if answer.fits:
        launch_link(named_model, model, host_id, wish, answer)
    for said in remarks(shape, model, card, wish, answer):
        st.markdown(f"- {marked(said)}")
    shown.memory(answer, host_id)
    with st.expander(t("Every combination for this many users"), key="fit-all"):
        if st.toggle(t("Compute it"), key="fit-table"):
            shown.combinations(shape, card, wish)
st.subheader(t("Settings to take as they are"), anchor=False)
shown.recipe_list(card)
lessons = shown.lessons_here()
if lessons:
    st.subheader(t("Measured here"), anchor=False)
    shown.measured_here(lessons)
