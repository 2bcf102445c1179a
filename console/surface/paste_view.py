"""A pasted command, `docker run` line or program: what is wrong in it, and the form filled from it with one button."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from console.catalog.flags import told
from console.masking import mask
from console.serving.explain import Understood, understand
from console.serving.explain_parts import Finding, Ignored
from console.surface.calm_table import Cell, Head, calm_table
from console.surface.ui import language, t

TAKEN = "launch-taken"
NOT_OURS = ("release", "chip")
"""What the host itself says, whatever a paste says of it."""


@dataclass(frozen=True)
class Taken:
    """What a paste came to for a host; its text, in which a key may stand, is forgotten."""

    host_id: int
    fields: Mapping[str, Any]
    findings: Sequence[Finding]
    ignored: Sequence[Ignored]


def taken(host_id: int) -> Mapping[str, Any]:
    """The settings that were taken from a paste for this host; none if there was no paste."""
    kept = _kept(host_id)
    return {} if kept is None else kept.fields


def paste(host_id: int, release: str, chip: str, *, fills: bool = True) -> None:
    """The folded part of the page in which something can be pasted. fills: whether there is a form to fill."""
    with st.expander(t("Paste a command"), key="launch-paste", icon=":material/content_paste:"):
        typed = st.text_area(
            t("A vllm serve command, a docker run line or a Python program"), key="pasted", height=120,
            help=t("It is only read. Nothing of it is run."),
        )  # fmt: skip
        if typed.strip():
            _understood(host_id, understand(typed, release, chip), fills=fills)
    kept = _kept(host_id)
    if kept is None or not fills:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(t("The form is filled from what you pasted."), width="content")
        st.button(t("Begin anew"), key="paste-undo", on_click=_forget, icon=":material/undo:")
    if not typed.strip():
        _findings(kept.findings)
        _left_out(kept.ignored)


def _understood(host_id: int, found: Understood, *, fills: bool) -> None:
    _findings(found.findings)
    if found.kind and not found.findings:
        st.success(t("Nothing is wrong in it for vllm-ascend {release}.", release=found.read_as or found.spec.release))
    if not found.kind:
        st.info(t("Nothing in it starts a server. Paste the whole command, beginning with vllm serve or docker run."))
        return
    _left_out(found.ignored)
    if not fills:
        return
    fields = {name: value for name, value in found.fields.items() if name not in NOT_OURS}
    st.button(
        t("Fill the form with it"), key="paste-take", type="primary", on_click=_take,
        args=(Taken(host_id, fields, found.findings, found.ignored),),
        disabled=not fields, help=None if fields else t("It states no setting that the form has."),
    )  # fmt: skip


def _findings(found: Sequence[Finding]) -> None:
    if not found:
        return
    heads = [Head(t("In the text")), Head(t("What is wrong"), text=True), Head(t("Instead"), text=True)]
    lang = language()
    rows = [
        [Cell(mask(f"{one.token} {one.value}".strip())), Cell(told(one.problem, lang)), Cell(told(one.instead, lang))]
        for one in found
    ]
    calm_table("findings", heads, rows)


def _left_out(ignored: Sequence[Ignored]) -> None:
    if ignored:
        why = [Head(t("Left out")), Head(t("Why"), text=True)]
        calm_table("ignored", why, [[Cell(mask(one.token)), Cell(told(one.why, language()))] for one in ignored])


def _kept(host_id: int) -> Taken | None:
    kept: Taken | None = st.session_state.get(TAKEN)
    return kept if kept is not None and kept.host_id == host_id else None


def _take(found: Taken) -> None:
    """Keep the settings and forget the text, in which a key may stand."""
    st.session_state[TAKEN] = found
    st.session_state["pasted"] = ""


def _forget() -> None:
    st.session_state.pop(TAKEN, None)
