"""Giving the worker a password for sudo, and letting it forget it."""

import streamlit as st

from console.hosts import inventory, secrets, sudo
from console.hosts.inventory import Host
from console.hosts.keys import Password
from console.hosts.reach import Sudo
from console.jobs import as_root, jobs
from console.jobs.history import JobView
from console.surface.ui import attempt, marked, t, who


def password_of(host: Host) -> None:
    """On the card of a host where sudo wants a password: whether the worker knows it, and the form to give it."""
    if host.reach is None or host.reach.sudo != Sudo.PASSWORD or host.reach.user == "root":
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if host.id in secrets.known():
            st.caption(t("The worker knows the password for sudo until it ends."))
            st.button(t("Forget it"), key=f"sudo-forget-{host.id}", on_click=attempt, args=(secrets.forget, host.id))
        elif st.session_state.get(_opened(host.id)):
            _form(host, None)
        else:
            st.caption(t("sudo needs a password here; jobs that become root ask for it."))
            st.button(t("Give it now"), key=f"sudo-open-{host.id}", on_click=_open, args=(host.id,))


def question(job: JobView) -> bool:
    """The form where a job waits for the password; False where it asks something else."""
    host = inventory.host(job.host_id)
    if not as_root.is_asked(job.question, host):
        return False
    st.warning(marked(job.question), icon=":material/key:")
    _form(host, job.id)
    return True


def _form(host: Host, job_id: int | None) -> None:
    with st.form(f"sudo-{host.id}-{job_id or 0}", border=False):
        st.text_input(t("Password for sudo"), type="password", key=_typed(host.id), autocomplete="off")
        st.form_submit_button(t("Hand it to the worker"), type="primary", on_click=_give, args=(host.id, job_id))


def _give(host_id: int, job_id: int | None) -> None:
    """Take the password out of the form at once, try it on the host, and hand it over."""
    password = Password(str(st.session_state.get(_typed(host_id), "")))
    st.session_state[_typed(host_id)] = ""
    if attempt(_handed, host_id, password) and job_id is not None:
        attempt(jobs.answer, job_id, as_root.GIVEN, actor=who())


def _handed(host_id: int, password: Password) -> bool:
    host = inventory.host(host_id)
    if host.reach is not None:
        sudo.check(inventory.runner(host), host.reach, password)
        secrets.give(host_id, password)
    st.session_state.pop(_opened(host_id), None)
    return True


def _open(host_id: int) -> None:
    st.session_state[_opened(host_id)] = True


def _opened(host_id: int) -> str:
    return f"sudo-opened-{host_id}"


def _typed(host_id: int) -> str:
    return f"sudo-typed-{host_id}"
