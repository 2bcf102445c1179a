"""The playground's request for a terminal and for a program, and how both get to the server."""

import shlex
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from console.hosts import inventory
from console.hosts.reach import Reach, spot
from console.serving.code_view import KEY, curl, python
from console.serving.instances import Instance
from console.serving.request import ChatRequest
from console.serving.spec import LOOPBACK
from console.surface.ui import t, words


def view_as_code(one: Instance, request: ChatRequest) -> None:
    """The request, with a question to fill in where none waits for an answer; never the key itself."""
    if not request.messages or request.messages[-1]["role"] != "user":
        request = replace(request, messages=[*request.messages, {"role": "user", "content": "…"}])
    with st.popover(t("View as code"), icon=":material/code:"):
        base = f"http://{_way_there(one)}"
        st.code(curl(request, base, with_key=one.spec.api_key), language="bash", wrap_lines=True)
        st.code(python(request, base, with_key=one.spec.api_key), language="python")
        if one.spec.api_key:
            st.caption(
                t("The key goes in the place of {mark}. It is in the files that the page of the server makes, for "
                  "those who ask for it there.", mark=f"`{KEY}`")
            )  # fmt: skip
            st.page_link("instance.py", label=one.name, query_params={"instance": str(one.id)}, icon=":material/key:")


def _way_there(one: Instance) -> str:
    """Where clients find it, as `address:port`, with what has to be done first said above it."""
    host = inventory.host(one.host_id)
    own, reach = f"127.0.0.1:{one.spec.port}", host.reach
    if one.spec.host in LOOPBACK:
        if reach is not None:
            st.caption(t("On {host} itself this works as it stands; elsewhere open the way first:", host=host.label))
            st.code(shlex.join(_tunnel(reach, own)), language="bash")
        return own
    if reach is None:
        st.caption(t("From other machines, put an address of this machine in the place of 127.0.0.1."))
        return own
    st.caption(t("It listens for the whole network: this works wherever {host} is reached.", host=words(host.label)))
    return spot(reach.address, one.spec.port)


def _tunnel(reach: Reach, own: str) -> Sequence[str]:
    jumps = ",".join(f"{hop.user}@{spot(hop.address, hop.port)}" for hop in reach.jumps)
    key = ["-i", reach.key_file] if reach.key_file else []
    port = own.rpartition(":")[2]
    return ["ssh", "-N", "-L", f"{port}:{own}", *(["-J", jumps] if jumps else []), *key, "-p", str(reach.port),
            f"{reach.user}@{reach.address}"]  # fmt: skip
