"""Playground: talk to a server that is ready; what is said is kept."""

import streamlit as st

from console.serving import conversations, instances
from console.serving.state import State
from console.surface.chat_view import (
    answer_now,
    chosen_instance,
    conversation_menu,
    history_choice,
    present,
    request_of,
    sampling_form,
)
from console.surface.code_view import view_as_code
from console.surface.ui import empty, number_in_url, t, title, warn_unknown
from console.surface.way_back import way_back
from console.text import say

title(t("Playground"))
way_back()
ready = [one for one in instances.instances() if one.state == State.ready]
talk = history_choice(number_in_url("conversation"))
warn_unknown("instance", {str(one.id) for one in ready}, say("a server that is ready"))

if not ready:
    empty(
        t("No server is ready to talk to. Start one on Instances, or run the pilot on Home."),
        "instances.py",
        t("Instances"),
    )
    if talk is not None:
        present(talk)
        conversation_menu(talk, "")
else:
    with st.container(horizontal=True, vertical_alignment="bottom", key="talk-bar"):
        one = chosen_instance(ready, talk)
        sampling = sampling_form(talk)
        view_as_code(one, request_of(one, talk, sampling))
        if talk is not None:
            conversation_menu(talk, one.spec.served_name)
    if one.noise:
        st.warning(
            t("{name} has random weights: it produces words, and they mean nothing.", name=one.name),
            icon=":material/warning:",
        )
    if talk is None:
        st.caption(t("Ask something below; the conversation gets a name and an address of its own."))
    else:
        present(talk)
    asked = st.chat_input(t("Ask {name}", name=one.name), key="question", submit_mode="stop")
    if asked:
        if talk is None:
            number = conversations.begin(one.id, sampling, asked)
            st.query_params["conversation"] = str(number)
        else:
            number = talk.id
            conversations.keep_sampling(number, one.id, sampling)
        conversations.add(number, "user", asked)
        with st.chat_message("user", avatar=":material/person:"):
            st.markdown(asked)
        answer_now(one, number, sampling)
    elif talk is not None and st.session_state.pop("regenerate", None) == talk.id:
        answer_now(one, talk.id, sampling, again=True)
