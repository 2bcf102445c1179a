"""Logging in with a password that only the worker's memory holds: giving it, and letting the worker forget it."""

from collections.abc import Callable

import streamlit as st

from console.hosts import secrets
from console.hosts.inventory import Host
from console.hosts.keys import Password
from console.surface.ui import attempt, t

Use = Callable[[int, Password], None]
"""Logs in on the host of that number with the password, and hands it to the worker if it works."""


def open_button(host: Host) -> None:
    """Among the buttons of a host: open the form, unless the worker knows the password already."""
    if host.reach is None or host.scenario is not None or _is_known(host):
        return
    st.button(
        t("Log in with a password"),
        key=f"login-open-{host.id}",
        help=t("For a host where no key is installed; the password is kept in the worker's memory only"),
        on_click=_open,
        args=(host.id,),
    )


def password_of(host: Host, use: Use) -> None:
    """On the card of a host: what the worker knows of its password, or the form to give it."""
    if host.reach is None:
        return
    if _is_known(host):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                t(
                    "The worker knows the password that logs in here, in its memory only: it is gone when the worker "
                    "ends. A connection that stands stays open when you let it forget the password."
                )
            )
            st.button(
                t("Forget the password"),
                key=f"login-forget-{host.id}",
                on_click=attempt,
                args=(secrets.forget_login, host.reach),
            )
    elif st.session_state.get(_opened(host.id)):
        _form(host, use)


def _form(host: Host, use: Use) -> None:
    with st.form(f"login-{host.id}", border=False):
        assert host.reach is not None
        st.text_input(
            t("Password of {user} on {host}", user=host.reach.user, host=host.name),
            type="password",
            key=_typed(host.id),
            autocomplete="off",
        )
        st.caption(
            t(
                "It is tried once and then kept in the worker's memory until the worker ends: never on disk, never in "
                "a log. After a restart of the worker you give it again."
            )
        )
        st.form_submit_button(t("Log in"), type="primary", on_click=_give, args=(host.id, use))


def _give(host_id: int, use: Use) -> None:
    """Take the password out of the form at once."""
    typed = str(st.session_state.get(_typed(host_id), ""))
    st.session_state[_typed(host_id)] = ""
    if typed:
        st.session_state.pop(_opened(host_id), None)
        use(host_id, Password(typed))


def _is_known(host: Host) -> bool:
    return host.reach is not None and secrets.way_of(host.reach) in secrets.logins()


def _open(host_id: int) -> None:
    st.session_state[_opened(host_id)] = True


def _opened(host_id: int) -> str:
    return f"login-opened-{host_id}"


def _typed(host_id: int) -> str:
    return f"login-typed-{host_id}"
