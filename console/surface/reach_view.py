"""Entering, trying, changing and removing a host that is reached over SSH; a person decides about its key."""

import time
from dataclasses import dataclass

import streamlit as st

from console.errors import ChangedHostKey, ConsoleError, UnknownHostKey
from console.hosts import inventory, keys, known_hosts, trial
from console.hosts.inventory import Host
from console.hosts.keys import Password
from console.hosts.known_hosts import HostKey
from console.hosts.reach import Reach, Sudo, jumps, key_path
from console.surface import login_view, sudo_view
from console.surface.ui import ago, attempt, marked, t, who
from console.text import Text, say


@dataclass(frozen=True)
class Result:
    """How the last try of a host in this session ended. `key` is what the server showed, when that is the trouble."""

    time: float
    words: Text
    good: bool
    remarks: tuple[Text, ...] = ()
    key: HostKey | None = None
    changed: bool = False
    password: Password | None = None
    keep: bool = False


def add_form() -> None:
    """The form for a new host, and the key to put on it."""
    with st.expander(t("Add a host that is reached over SSH"), key="add-host", icon=":material/add:"):
        _form("new", None)
        _public_key()


def edit_form(host: Host) -> None:
    """The same for a host that is there, when its “Edit” was pressed."""
    if st.session_state.get("editing") == host.id:
        with st.container(border=True, key=f"edit-{host.id}"):
            _form(str(host.id), host)
            st.button(t("Close"), key=f"close-{host.id}", on_click=st.session_state.pop, args=("editing", None))


def buttons(host: Host) -> None:
    """What a person can do about the way to this host."""
    with st.container(horizontal=True):
        st.button(t("Test"), key=f"try-{host.id}", help=t("Log in anew, now"), on_click=_try, args=(host.id,))
        st.button(t("Edit"), key=f"change-{host.id}", on_click=_edit, args=(host.id,))
        login_view.open_button(host)
        if st.button(t("Remove"), key=f"remove-{host.id}"):
            _confirm_removal(host)
    login_view.password_of(host, _keep)
    sudo_view.password_of(host)


def result(host: Host) -> None:
    """How the last try ended, and what a person has to decide about the key."""
    found: Result | None = st.session_state.get(_slot(host.id))
    if found is None:
        return
    said = f"{marked(found.words)} · {ago(found.time)}"
    if found.key is not None and not found.changed:
        _ask_about_key(host, found)
    elif found.good:
        st.success(said, icon=":material/check:")
    elif found.changed:
        st.error(said, icon=":material/gpp_bad:")
        _forget_button(host, found)
    else:
        st.error(said, icon=":material/link_off:")
    for one in found.remarks:
        st.warning(marked(one), icon=":material/warning:")


def _form(name: str, host: Host | None) -> None:
    reach = (host.reach if host else None) or Reach("x")
    with st.form(f"host-form-{name}", border=False):
        left, right = st.columns(2)
        with left:
            st.text_input(t("Name"), host.name if host else "", key=f"{name}-name")
            st.text_input(t("Address"), reach.address if host else "", key=f"{name}-address")
            st.number_input(t("Port"), 1, 65535, reach.port, key=f"{name}-port")
            st.text_input(t("User"), reach.user, key=f"{name}-user")
            st.text_input(t("Tags"), " ".join(host.tags) if host else "", key=f"{name}-tags")
        with right:
            st.text_input(
                t("Key file on this machine (empty: the console's own key)"), reach.key_file, key=f"{name}-key"
            )
            st.text_input(
                t("Jump hosts, the nearest first: user@host:port, user@host:port"),
                ", ".join(str(one) for one in reach.jumps),
                key=f"{name}-jumps",
            )
            choices = list(Sudo)
            names = {Sudo.NONE: t("no sudo"), Sudo.NOPASSWD: t("without password"), Sudo.PASSWORD: t("with password")}
            st.selectbox(
                "sudo", choices, choices.index(reach.sudo), key=f"{name}-sudo", format_func=lambda one: names[one]
            )
            st.text_input(
                t("Work folder on the host (empty: ascend-pilot in the user's home)"),
                host.work_folder if host else "",
                key=f"{name}-folder",
            )
            st.text_input(
                t("Password, used once to put the console's key on the host; it is never stored"),
                type="password",
                key=f"{name}-password",
                autocomplete="off",
            )
            st.checkbox(
                t("Put no key there, keep the password in memory"),
                key=f"{name}-keep",
                help=t(
                    "The worker knows it until the worker ends: never on disk, never in a log. After a restart of the "
                    "worker you give it again."
                ),
            )
        st.checkbox(t("Try the keys of the SSH agent too"), reach.agent, key=f"{name}-agent")
        st.form_submit_button(
            t("Save and test"), type="primary", on_click=_save, args=(name, host.id if host else None)
        )


def _save(name: str, host_id: int | None) -> None:
    """Enter or change the host, then try it; the password is taken out of the form at once."""
    typed = str(st.session_state.get(f"{name}-password", ""))
    st.session_state[f"{name}-password"] = ""
    host: Host | None = attempt(_saved, name, host_id)
    if host is None:
        return
    st.session_state.pop("editing", None)
    if host_id is None:
        for part in ("name", "address", "tags", "jumps", "folder", "key"):
            st.session_state[f"{name}-{part}"] = ""
    _try(host.id, Password(typed) if typed else None, keep=bool(st.session_state.get(f"{name}-keep")))


def _saved(name: str, host_id: int | None) -> Host:
    given = {
        part: str(st.session_state[f"{name}-{part}"]) for part in ("name", "address", "user", "key", "jumps", "folder")
    }
    reach = Reach(
        given["address"].strip(),
        int(st.session_state[f"{name}-port"]),
        given["user"].strip(),
        key_path(given["key"]),
        bool(st.session_state[f"{name}-agent"]),
        jumps([given["jumps"]], given["user"].strip()),
        Sudo(st.session_state[f"{name}-sudo"]),
    )
    tags = [str(st.session_state[f"{name}-tags"])]
    if host_id is None:
        return inventory.add_host(given["name"], reach, tags=tags, work_folder=given["folder"], actor=who())
    return inventory.edit_host(host_id, given["name"], reach, tags=tags, work_folder=given["folder"], actor=who())


def _keep(host_id: int, password: Password) -> None:
    _try(host_id, password, keep=True)


def _try(host_id: int, password: Password | None = None, *, keep: bool = False) -> None:
    """Log in, and keep how it ended for this session. A password puts the key there, or with `keep` is itself kept."""
    try:
        host = inventory.host(host_id)
        if password is not None:
            (trial.keep_password if keep else trial.install_key)(host, password)
        tried = trial.try_host(host)
        words = say(
            "It answers: {login} ms to log in, {command} ms for a command.",
            login=round(tried.login_s * 1000),
            command=round(tried.command_s * 1000),
        )
        ended = Result(time.time(), words, True, tried.remarks)
    except UnknownHostKey as error:
        ended = Result(time.time(), error.text, False, key=error.key, password=password, keep=keep)
    except ChangedHostKey as error:
        ended = Result(time.time(), error.text, False, key=error.key, changed=True)
    except ConsoleError as error:
        ended = Result(time.time(), error.text, False)
    st.session_state[_slot(host_id)] = ended


def _ask_about_key(host: Host, found: Result) -> None:
    """The dialog about an unknown key; a person compares and decides."""

    def decide() -> None:
        key = found.key
        assert key is not None
        st.write(marked(say("{where} shows this host key, which nobody has accepted yet:", where=key.name)))
        st.code(f"{key.algorithm} {key.fingerprint}", language=None, wrap_lines=True)
        st.write(t("Compare it with what this prints on the host itself:"))
        st.code("ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub", language="bash")
        st.write(t("If the two differ, somebody stands between you and the host: do not accept."))
        with st.container(horizontal=True):
            yes = st.button(
                t("Accept"), key=f"accept-{host.id}", type="primary", on_click=_accept, args=(host.id, found)
            )
            no = st.button(t("Do not accept"), key=f"reject-{host.id}", on_click=_reject, args=(host.id,))
        if yes or no:
            st.rerun()  # a button in a dialog runs only the dialog anew

    st.dialog(t("Unknown host key"), dismissible=False)(decide)()


def _accept(host_id: int, found: Result) -> None:
    if found.key is not None:
        attempt(known_hosts.accept, found.key)
        _try(host_id, found.password, keep=found.keep)


def _reject(host_id: int) -> None:
    st.session_state.pop(_slot(host_id), None)


def _forget_button(host: Host, found: Result) -> None:
    sure = st.checkbox(t("I know why the key has changed"), key=f"sure-{host.id}")
    st.button(
        t("Forget the old key"),
        key=f"forget-{host.id}",
        disabled=not sure,
        help=None if sure else t("Tick the box above first."),
        on_click=_forget,
        args=(host.id, found),
    )


def _forget(host_id: int, found: Result) -> None:
    """Forget the accepted key and try again, which shows the new one."""
    if found.key is not None:
        known_hosts.forget(found.key.address, found.key.port)
        _try(host_id)


def _edit(host_id: int) -> None:
    st.session_state["editing"] = host_id


@st.dialog(" ")
def _confirm_removal(host: Host) -> None:
    if host.scenario is None:
        asked = say("Remove {name}? Nothing on the host is changed; jobs and measurements stay.", name=host.name)
    else:
        asked = say(
            "Remove {name}? It ends, and what is on its disk is deleted; jobs and measurements stay.", name=host.label
        )
    st.write(marked(asked))
    with st.container(horizontal=True):
        gone = st.button(
            f":red[{t('Remove')}]",
            key="really-remove",
            icon=":material/delete:",
            on_click=attempt,
            args=(inventory.remove_host, host.id),
            kwargs={"actor": who()},
        )
        kept = st.button(t("Cancel"), key="keep-host")
    if gone or kept:
        st.rerun()  # a button in a dialog runs only the dialog anew


def _public_key() -> None:
    st.caption(t("The console's public key. Put it into ~/.ssh/authorized_keys of the user on the host:"))
    line = attempt(keys.public_line)
    if line:
        st.code(line, language=None)


def _slot(host_id: int) -> str:
    return f"tried-{host_id}"
