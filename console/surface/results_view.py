"""Results of a plan that a person carried out without the console: pasted or brought as a file, looked at, recorded."""

import streamlit as st

from console.errors import ConsoleError
from console.hosts.inventory import Host
from console.jobs import by_hand
from console.jobs.by_hand import Line
from console.jobs.states import StepState
from console.surface.calm_table import Cell, Head, calm_table
from console.surface.ui import marked, state_word, t, who, words
from console.text import Text, say

TONES = {StepState.FAILED: "bad", StepState.WAITING: "quiet"}
SHAPES = {StepState.OK: "●", StepState.SATISFIED: "●", StepState.FAILED: "■", StepState.WAITING: "○"}


def results_section(host: Host) -> None:
    """Where the results come back in; nothing of a text that is damaged is used, and the text stays where it is."""
    with st.expander(t("Results of the script, carried out without the console"), key="results"):
        st.caption(
            t(
                "Download the plan as a shell script, run it on the host, then paste what it printed, or bring the "
                "file pilot-results-….txt it wrote. Each result has a sum, so that a damaged one is noticed."
            )
        )
        typed = st.text_area(t("What the script printed"), key=f"results-text-{host.id}", height=160)
        given = st.file_uploader(t("Or its file of results"), type=["txt", "log"], key=f"results-file-{host.id}")
        check = st.toggle(
            t("Ask the host itself whether each step is done"),
            value=True,
            key=f"results-check-{host.id}",
            help=t("Runs the check of every step and nothing else. A host that is out of reach is not asked."),
        )
        pasted = given.getvalue().decode("utf-8", "replace") if given is not None else typed
        trouble = _trouble(host, pasted)
        _buttons(host, pasted, None if trouble is None else words(trouble), check=check)
        if trouble is None or not pasted.strip():
            _last(host)
        else:
            st.error(marked(trouble), icon=":material/error:")


def _trouble(host: Host, pasted: str) -> Text | None:
    """Why nothing of this text can be recorded, as far as the text alone tells."""
    if not pasted.strip():
        return say("Paste the results or bring their file first.")
    try:
        by_hand.read(host, pasted)
    except ConsoleError as error:
        return error.text
    return None


def _buttons(host: Host, pasted: str, why: str | None, *, check: bool) -> None:
    with st.container(horizontal=True):
        st.button(
            t("Look at the results"), key="results-look", disabled=why is not None, help=why, on_click=_look,
            args=(host, pasted, check),
        )  # fmt: skip
        st.button(
            t("Record them"), key="results-record", type="primary", disabled=why is not None, help=why,
            on_click=_record, args=(host, pasted, check),
        )  # fmt: skip


def _look(host: Host, pasted: str, check: bool) -> None:
    try:
        st.session_state[f"results-seen-{host.id}"] = by_hand.lines(host, pasted, check=check)[1]
    except ConsoleError as error:
        st.session_state[f"results-seen-{host.id}"] = error.text


def _record(host: Host, pasted: str, check: bool) -> None:
    try:
        number = by_hand.record(host, pasted, actor=who(), check=check)
    except ConsoleError as error:
        st.session_state[f"results-seen-{host.id}"] = error.text
    else:
        st.session_state[f"results-seen-{host.id}"] = number


def _last(host: Host) -> None:
    """What the last press brought: rows, the job, or why nothing was recorded."""
    seen = st.session_state.get(f"results-seen-{host.id}")
    if isinstance(seen, int):
        st.success(t("Recorded as job {job}.", job=seen), icon=":material/check:")
        st.page_link("job.py", label=t("Job {job}", job=seen), query_params={"job": str(seen)})
    elif isinstance(seen, list):
        _table(host, seen)
    elif seen is not None:
        st.error(marked(seen), icon=":material/error:")


def _table(host: Host, rows: list[Line]) -> None:
    heads = (Head("#"), Head(t("step"), text=True), Head(t("state")), Head(t("how that is known"), text=True))
    cells = [
        (
            Cell(str(one.number)),
            Cell(words(one.step.title)),
            Cell(f"{SHAPES.get(one.state, '?')} {_word(one.state)}", TONES.get(one.state, "")),
            Cell(words(one.words), whole=one.result.log if one.result is not None else ""),
        )
        for one in rows
    ]
    calm_table(f"results-{host.id}", heads, cells)


def _word(state: StepState) -> str:
    return t("not run") if state == StepState.WAITING else words(state_word(state))
