"""Profiles on the page: what hosts are compared with, and a person's own ones to copy, edit and delete."""

from collections.abc import Callable, Mapping

import streamlit as st

from console.catalog.profiles import Limit, Profile
from console.checks import AREAS, CHECKS, own
from console.checks.limit_words import limit_title
from console.hosts import own_profiles
from console.surface.ui import attempt, language, marked, show_error, t, who, words
from console.text import verbatim


def profiles() -> None:
    """Every profile, closed until somebody wants to see them."""
    with st.expander(t("Profiles: what hosts are compared with"), key="profiles"):
        st.caption(t("Built-in profiles stay as they are. Copy one, then change its limits and checks to your needs."))
        for one in own_profiles.profiles().values():
            _line(one)


def _line(one: Profile) -> None:
    columns = st.columns([5, 3, 2, 4], vertical_alignment="center")
    columns[0].text(one.title_in(language()), help=None if one.based_on else one.about[language()])
    origin = own_profiles.find(one.based_on).title_in(language()) if one.based_on else ""
    columns[1].caption(t("own, from {profile}", profile=marked_plain(origin)) if origin else t("built-in"))
    columns[2].caption(t("{count} checks", count=len(one.checks)))
    with columns[3].container(horizontal=True):
        if st.button(t("Copy"), key=f"copy-{one.id}"):
            _dialog(t("Copy a profile"), lambda: _copy(one))
        if one.based_on:
            if st.button(t("Edit"), key=f"edit-{one.id}"):
                _dialog(t("Edit a profile"), lambda: _edit(one), "large")
            if st.button(t("Delete"), key=f"delete-{one.id}"):
                _dialog(t("Delete a profile"), lambda: _delete(one))
        elif st.button(t("Show"), key=f"show-{one.id}"):
            _dialog(t("Profile"), lambda: _show(one), "large")


def marked_plain(name: str) -> str:
    return marked(verbatim(name))


def _dialog(heading: str, body: Callable[[], None], width: str = "small") -> None:
    st.dialog(heading, width="large" if width == "large" else "small")(body)()


def _copy(one: Profile) -> None:
    with st.form("copy-form", border=False, enter_to_submit=False):
        st.text_input(t("Name of the copy"), key="copy-name", max_chars=own.LONGEST)
        done = st.form_submit_button(t("Copy"), key="copy-now", type="primary", on_click=_copy_now, args=(one.id,))
    if not _refused() and done:
        st.rerun()  # a button in a dialog runs only the dialog anew


def _copy_now(profile_id: str) -> None:
    attempt(own_profiles.copy, profile_id, str(st.session_state["copy-name"]), actor=who())


def _refused() -> bool:
    """Whether what was just sent was refused; then it says why, where it can be put right."""
    refused = "error" in st.session_state
    show_error()
    return refused


def _delete(one: Profile) -> None:
    st.write(t("Delete {name}? What hosts said stays.", name=marked_plain(one.title_in(language()))))
    if st.button(
        t("Delete"),
        key="really-delete",
        type="primary",
        on_click=attempt,
        args=(own_profiles.remove, one.id),
        kwargs={"actor": who()},
    ):
        st.rerun()


def _show(one: Profile) -> None:
    st.write(one.about[language()])
    for name, limit in one.limits.items():
        columns = st.columns([4, 3, 5])
        columns[0].text(words(limit_title(name)))
        columns[1].text(own.shown(limit.value))
        columns[2].caption(marked_plain(limit.source))


def _edit(one: Profile) -> None:
    """Typed widgets for every limit, with what is usual beside each, and the checks by area."""
    with st.form("edit-form", border=False, enter_to_submit=False):
        st.text_input(t("Name"), value=one.title_in(language()), key="edit-title", max_chars=own.LONGEST)
        st.subheader(t("Limits"), anchor=False)
        for name, limit in one.limits.items():
            _limit(name, limit, own.default(one, name))
        st.subheader(t("Checks"), anchor=False)
        for area, mine in _areas(one).items():
            st.pills(
                words(AREAS[area]),
                mine,
                selection_mode="multi",
                default=[name for name in mine if name in one.checks],
                key=f"edit-checks-{area}",
                format_func=lambda name: words(CHECKS[name].title),
            )
        done = st.form_submit_button(t("Save"), key="edit-now", type="primary", on_click=_edit_now, args=(one,))
    if not _refused() and done:
        st.rerun()


def _edit_now(one: Profile) -> None:
    typed = st.session_state
    limits = {
        name: {entry: typed[f"edit-{name}-{entry}"] for entry in limit.value}
        if isinstance(limit.value, Mapping)
        else typed[f"edit-{name}"]
        for name, limit in one.limits.items()
    }
    checks = [name for area in _areas(one) for name in typed[f"edit-checks-{area}"]]
    title = str(typed["edit-title"])
    attempt(own_profiles.change, one.id, actor=who(), title=title, checks=checks, limits=limits)


def _areas(one: Profile) -> dict[str, list[str]]:
    """The checks that may belong to the profile, by area."""
    possible = own.choices(one)
    found = {area: [name for name in possible if CHECKS[name].area == area] for area in AREAS}
    return {area: mine for area, mine in found.items() if mine}


def _limit(name: str, limit: Limit, usual: Limit) -> None:
    columns = st.columns([1, 1], vertical_alignment="center")
    with columns[0]:
        if isinstance(limit.value, Mapping):
            for entry, each in limit.value.items():
                _value(name, str(entry), each, f"edit-{name}-{entry}")
        else:
            _value(name, "", limit.value, f"edit-{name}")
    columns[1].caption(
        t("usually {value} · {source}", value=marked_plain(own.shown(usual.value)), source=marked_plain(usual.source))
    )


def _value(name: str, entry: str, value: object, key: str) -> None:
    label = words(limit_title(name, entry))
    if isinstance(value, int | float):
        if name in own.WHOLE:
            st.number_input(label, min_value=0, value=int(value), step=1, key=key)
        else:
            st.number_input(label, min_value=0.0, value=float(value), step=1.0, format="%g", key=key)
    else:
        st.text_input(label, value=own.shown(value), key=key)
