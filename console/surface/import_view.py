"""The dialog that enters many hosts at once: what a file says, what would happen, and only then a yes."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from console.errors import ConsoleError
from console.hosts import host_csv, importing, ssh_config
from console.hosts.import_source import SSH_CONFIG, Kind
from console.hosts.import_words import counted, of_change, of_what
from console.hosts.importing import Entry, Preview, Read, What
from console.surface.calm_table import Cell, Head, calm_table
from console.surface.ui import attempt, language, marked, show_error, t, who, words

OPEN, DONE = "importing", "imported"
TONES = {What.CREATE: "", What.CHANGE: "warn", What.SAME: "quiet", What.REFUSED: "bad", What.SKIPPED: "quiet"}
SHAPES = {What.CREATE: "+", What.CHANGE: "▲", What.SAME: "=", What.REFUSED: "■", What.SKIPPED: "◌"}


def import_button() -> None:
    """What opens the dialog, and how the last import of this session ended."""
    st.button(t("Import hosts"), key="import-hosts", icon=":material/upload_file:", on_click=_open)
    if (done := st.session_state.pop(DONE, None)) is not None:
        st.toast(words(done), icon=":material/check:")
    if st.session_state.get(OPEN):
        st.dialog(t("Import hosts"), width="large", on_dismiss=_close)(_dialog)()


def _dialog() -> None:
    if not st.session_state.get(OPEN):
        st.rerun()  # a button in a dialog runs only the dialog anew
    show_error()
    kinds = {Kind.SSH: t("From ~/.ssh/config of this machine"), Kind.CSV: t("From a CSV file")}
    kind = st.segmented_control(
        t("From"), list(kinds), default=Kind.SSH, format_func=kinds.__getitem__, key="import-kind", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    try:
        read = _from_csv() if kind == Kind.CSV else _from_ssh()
        if read is not None:
            _planned(read)
    except ConsoleError as error:
        st.error(marked(error.text), icon=":material/error:")
    st.button(t("Close"), key="import-close", on_click=_close)


def _from_ssh() -> Read | None:
    typed = st.text_input(t("File on this machine"), SSH_CONFIG, key="import-path").strip()
    st.caption(t("Passwords and commands in the file are neither read nor run."))
    return ssh_config.read_ssh_config(Path(typed).expanduser()) if typed else None


def _from_csv() -> Read | None:
    st.download_button(
        t("Template"), host_csv.template(language()), "hosts.csv", "text/csv", icon=":material/download:",
        key="import-template",
    )  # fmt: skip
    st.caption(
        t(
            "One row a host, headings in English or Chinese: name, address, port, user, key, jump, sudo, folder, tags. "
            "An empty cell leaves that as it is. Passwords have no place in it."
        )
    )
    given = st.file_uploader(t("CSV file"), type=["csv", "txt", "tsv"], key="import-file")
    return None if given is None else host_csv.read_csv(given.getvalue())


def _planned(read: Read) -> None:
    """What would happen, row by row, and the button that does it."""
    names = [one.name for one in read.found if isinstance(one, importing.Wanted)]
    choices = sorted(set(names))
    without = st.multiselect(t("Leave out"), choices, key="import-without", placeholder=t("none")) if choices else []
    planned = importing.preview(read, without)
    for remark in planned.remarks:
        st.warning(marked(remark), icon=":material/warning:")
    if not planned.entries:
        st.info(t("This file names no host."))
        return
    st.write(words(counted(planned)))
    heads = [Head(t("line"), True), Head(t("name")), Head(""), Head(t("what"), text=True)]
    calm_table("import", heads, [_row(one) for one in planned.entries])
    count = len(planned.writes)
    why_not = None if count else t("There is nothing to do: no host is new or changed.")
    st.button(
        t("Import"),
        key="import-now",
        type="primary",
        disabled=not count,
        help=why_not,
        on_click=_enter,
        args=(planned,),
    )


def _row(one: Entry) -> Sequence[Cell]:
    told = [words(one.why)] if one.why is not None else [words(of_change(change)) for change in one.changes]
    told += [words(remark) for remark in one.remarks]
    state = Cell(f"{SHAPES[one.what]} {words(of_what(one.what))}", TONES[one.what])
    return (Cell(one.place, "quiet"), Cell(one.name), state, Cell("; ".join(told)))


def _enter(planned: Preview) -> None:
    if attempt(importing.enter, planned, actor=who()) is not None:
        st.session_state[DONE] = counted(planned)
        _close()


def _open() -> None:
    st.session_state[OPEN] = True


def _close() -> None:
    st.session_state.pop(OPEN, None)
