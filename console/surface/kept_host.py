"""The host that a reader works on: the one in the address line, else the last one of this session."""

from collections.abc import Sequence

import streamlit as st

from console.surface.ui import number_in_url

KEPT = "kept-host"


def kept_host(known: Sequence[int]) -> int:
    """One of `known`, kept for the pages that follow, whose addresses in the sidebar name no host.

    The address line leads; a host that is not there (any more) gives way to the first of `known`.
    """
    asked, kept = number_in_url("host"), st.session_state.get(KEPT)
    number = next((one for one in (asked, kept) if one in known), None)
    if number is None:
        st.session_state.pop(KEPT, None)
        return known[0]
    st.session_state[KEPT] = number
    return number
