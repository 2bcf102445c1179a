"""Between Home and the plain pages: where a stage of the pilot is worked on, and the way back to it."""

import streamlit as st

from console.errors import NotFound
from console.hosts import inventory
from console.surface.ui import number_in_url, t

PAGES = {
    "host": "hosts.py",
    "check": "checklist.py",
    "fix": "checklist.py",
    "install": "install.py",
    "serve": "instances.py",
    "try": "playground.py",
    "measure": "monitor.py",
}


def place(stage: str, host_id: int, ready: int | None = None) -> tuple[str, dict[str, str]]:
    """The page of a stage and its address: the host it is about, a server that is ready, and the way back."""
    address = {"host": str(host_id), "stage": stage}
    if stage in ("try", "measure") and ready is not None:
        address["instance"] = str(ready)
    return PAGES[stage], address


def way_back() -> None:
    """A link to the stage of the pilot that this page was opened from; nothing when it was opened by itself."""
    stage, host_id = st.query_params.get("stage", ""), number_in_url("host")
    if stage not in PAGES or host_id is None:
        return
    try:
        host = inventory.host(host_id)
    except NotFound:
        return
    st.page_link(
        "home.py",
        label=t("Back to the pilot on {host}", host=host.title),
        query_params={"host": str(host_id), "stage": stage},
        icon=":material/arrow_back:",
    )
