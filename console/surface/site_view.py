"""What a host decides about a command (where CANN lies, how Docker is reached), asked once while a page is in use."""

import streamlit as st

from console.errors import ConsoleError
from console.hosts.inventory import Host
from console.serving import ascend
from console.serving.asked import ServeSpec
from console.serving.backends import USUAL, Site
from console.serving.backends.ascend_docker import image_of
from console.serving.place import site
from console.text import Text

SITES = "launch-sites"


def site_of(host: Host, spec: ServeSpec) -> tuple[Site, Text | None]:
    """The host's own, else the usual one and why a server cannot start there."""
    if spec.backend not in ascend.BACKENDS:
        return USUAL, None
    known: dict[tuple[object, ...], tuple[Site, Text | None]] = st.session_state.setdefault(SITES, {})
    asked = (host, spec.backend, spec.api_key, image_of(spec) if spec.backend == ascend.DOCKER else "")
    if asked not in known:
        try:
            known[asked] = site(host, spec), None
        except ConsoleError as error:
            known[asked] = USUAL, error.text
    return known[asked]


def forget_sites() -> None:
    """Ask anew at the next look."""
    st.session_state.pop(SITES, None)
