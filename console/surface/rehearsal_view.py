"""Rehearsal hosts on the page: making one, what it plays, and starting or stopping it."""

import streamlit as st

from console.catalog.scenarios import scenario, scenarios
from console.errors import NotFound
from console.hosts import inventory, rehearsal, rehearsal_life
from console.hosts.inventory import Host
from console.hosts.rehearsal_life import State
from console.surface.ui import attempt, language, marked, t, who
from console.text import say

MADE = "rehearsal-made"


def add_form() -> None:
    """Choose what it plays, and make it."""
    with st.expander(
        t("Add a rehearsal host (simulated, for practice)"), key="add-rehearsal", icon=":material/science:"
    ):
        st.write(
            t(
                "A rehearsal host is for practice before the hardware arrives. It is a real SSH server on this machine "
                "in which cards, tools and installers are simulated; what is done to it stays within it."
            )
        )
        known = {one.id: one for one in scenarios()}
        chosen = st.selectbox(
            t("What it plays"),
            list(known),
            key="scenario",
            format_func={one.id: one.title_in(language()) for one in known.values()}.__getitem__,
        )
        st.caption(known[chosen].about_in(language()))
        st.text_input(t("Name"), key="rehearsal-name", placeholder=chosen)
        st.button(t("Make and start it"), key="rehearse", type="primary", on_click=_create)
        _made()


def _made() -> None:
    """The host that was just made, and what comes next for it."""
    host = next((one for one in inventory.hosts() if one.id == st.session_state.get(MADE)), None)
    if host is None:
        return
    st.success(marked(say("{host} is made. Next, check it: the Checklist asks it about itself.", host=host.title)))
    address, icon = {"host": str(host.id)}, ":material/arrow_forward:"
    st.page_link("checklist.py", label=t("Go on to the Checklist"), query_params=address, icon=icon)


def state(host: Host) -> None:
    """What the host plays, how it is, and the button that changes that; nothing for any other host."""
    if host.scenario is None:
        return
    now = rehearsal_life.state(host.id)
    with st.container(horizontal=True, vertical_alignment="center", key=f"rehearsal-{host.id}"):
        st.markdown(f":material/science: {_played(host.scenario)} · {_word(now)}", width="content")
        if now in (State.STOPPED, State.DOWN):
            st.button(t("Start"), key=f"wake-{host.id}", on_click=attempt, args=(_start, host.id))
        else:
            st.button(
                t("Stop"),
                key=f"rest-{host.id}",
                help=t("Ends everything that runs in it. What is on its disk stays."),
                on_click=attempt,
                args=(_stop, host.id),
            )


def _create() -> None:
    made = attempt(
        rehearsal.create,
        str(st.session_state["scenario"]),
        str(st.session_state["rehearsal-name"]),
        actor=who(),
    )
    if made is not None:
        st.session_state["rehearsal-name"] = ""
        st.session_state[MADE] = made.id


def _start(host_id: int) -> None:
    rehearsal.start(inventory.host(host_id), actor=who())


def _stop(host_id: int) -> None:
    rehearsal.stop(inventory.host(host_id), actor=who())


def _played(scenario_id: str) -> str:
    try:
        return scenario(scenario_id).title_in(language())
    except NotFound:  # the catalog of a later version may have dropped it
        return scenario_id


def _word(now: State) -> str:
    return {
        State.UP: t("it is up"),
        State.STARTING: t("it is starting"),
        State.REBOOTING: t("it is rebooting"),
        State.STOPPED: t("it is stopped"),
        State.DOWN: t("it is down, and will be started when it is wanted"),
    }[now]
