"""Numbers that an address gives to a form: taken as near as the form can, and said where that is another one."""

import streamlit as st

from console.serving.moved import moved
from console.surface.ui import marked
from console.text import Text, say

LONGEST = 100


def asked_number(name: str, label: Text, least: int, most: int, otherwise: int) -> int:
    """The part `name` of the address within the limits, else `otherwise`; a sentence, with `label`, if it differs."""
    given = st.query_params.get(name, "")
    if not given:
        return min(max(otherwise, least), most)
    shown = given if len(given) <= LONGEST else f"{given[: LONGEST - 1]}…"
    if not given.removeprefix("-").isdecimal() or len(given) > LONGEST:
        tell([say("The address says {name} is “{value}”, which cannot be; it is left out.", name=name, value=shown)])
        return min(max(otherwise, least), most)
    now = min(max(int(given), least), most)
    if now != int(given):
        tell([moved(label, shown, now, least, most)])
    return now


def tell(said: list[Text]) -> None:
    """What was given and could not be taken as it is, one line each."""
    if said:
        lines = [marked(one) for one in said]
        st.warning("\n".join(f"- {line}" for line in lines) if len(lines) > 1 else lines[0], icon=":material/edit:")
