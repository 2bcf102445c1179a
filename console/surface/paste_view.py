"""A pasted command, `docker run` line or program: what is wrong in it, and the form filled from it with one button."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from console.catalog.flags import told
from console.masking import mask
from console.serving.explain import Understood, understand
from console.surface.calm_table import Cell, Head, calm_table
from console.surface.ui import language, t

TAKEN = "launch-taken"
NOT_OURS = ("release", "chip")
"""What the host itself says, whatever a paste says of it."""


def taken(host_id: int) -> Mapping[str, Any]:
    """The settings that were taken from a paste for this host; none if there was no paste."""
    kept = st.session_state.get(TAKEN)
    return kept[1] if kept is not None and kept[0] == host_id else {}


def paste(host_id: int, release: str, chip: str) -> None:
    """The folded part of the page in which something can be pasted."""
    with st.expander(t("Paste a command"), key="launch-paste", icon=":material/content_paste:"):
        typed = st.text_area(
            t("A vllm serve command, a docker run line or a Python program"), key="pasted", height=120,
            help=t("It is only read. Nothing of it is run."),
        )  # fmt: skip
        if typed.strip():
            _understood(host_id, understand(typed, release, chip))
    if taken(host_id):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(t("The form is filled from what you pasted."), width="content")
            st.button(t("Begin anew"), key="paste-undo", on_click=_forget, icon=":material/undo:")


def _understood(host_id: int, found: Understood) -> None:
    if found.findings:
        heads = [Head(t("In the text")), Head(t("What is wrong"), text=True), Head(t("Instead"), text=True)]
        lang = language()
        rows = [
            [
                Cell(mask(f"{one.token} {one.value}".strip())),
                Cell(told(one.problem, lang)),
                Cell(told(one.instead, lang)),
            ]
            for one in found.findings
        ]
        calm_table("findings", heads, rows)
    elif found.kind:
        st.success(t("Nothing is wrong in it for vllm-ascend {release}.", release=found.read_as or found.spec.release))
    if not found.kind:
        st.info(t("Nothing in it starts a server. Paste the whole command, beginning with vllm serve or docker run."))
        return
    if found.ignored:
        why = [Head(t("Left out")), Head(t("Why"), text=True)]
        left = [[Cell(mask(one.token)), Cell(told(one.why, language()))] for one in found.ignored]
        calm_table("ignored", why, left)
    fields = {name: value for name, value in found.fields.items() if name not in NOT_OURS}
    st.button(
        t("Fill the form with it"), key="paste-take", type="primary", on_click=_take, args=(host_id, fields),
        disabled=not fields, help=None if fields else t("It states no setting that the form has."),
    )  # fmt: skip


def _take(host_id: int, fields: Mapping[str, Any]) -> None:
    """Keep the settings and forget the text, in which a key may stand."""
    st.session_state[TAKEN] = (host_id, dict(fields))
    st.session_state["pasted"] = ""


def _forget() -> None:
    st.session_state.pop(TAKEN, None)
