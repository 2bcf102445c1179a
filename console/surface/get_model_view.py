"""Getting a model onto a host: from a hub, which the host asks itself, or from a folder of the console's machine."""

from pathlib import Path

import streamlit as st

from console.catalog.models import repositories, repository
from console.errors import ConsoleError
from console.hosts import inventory
from console.hosts.inventory import Host
from console.jobs import history, weights_fetching, weights_pushing
from console.plans import weights
from console.plans.weights_hub import Hub, Remote, remote, usual_endpoint
from console.serving import launch, survey
from console.surface.jobs_view import job_panel
from console.surface.ui import ago, attempt, marked, t, who, words


def search(host: Host) -> survey.Survey | None:
    """The button that searches a host for models, and how old the last answer is."""
    seen = survey.last(host)
    with st.container(horizontal=True, vertical_alignment="center", key="search-models"):
        st.button(
            t("Search this host for models"),
            key="search",
            icon=":material/search:",
            on_click=attempt,
            args=(survey.survey, host),
            help=t("Looks below the work folder, the data disks and the homes, for at most half a minute."),
        )
        if seen is None:
            st.caption(t("It was not searched yet."))
        else:
            st.caption(t("{count} model folders, seen {age}", count=len(seen.models), age=ago(seen.time)))
    if seen is not None and seen.cut:
        st.warning(t("The search did not come to its end. Folders that are missing here can be named below."))
    return seen


def get_model(host: Host, *, open_it: bool) -> None:
    """Both ways, and the latest job of each."""
    with st.expander(
        t("Get a model onto this host"),
        key="get-model",
        expanded=open_it or bool(st.query_params.get("model")),
        icon=":material/download:",
    ):
        ways = {"hub": t("from a hub"), "here": t("from this machine")}
        way = st.segmented_control(
            t("Where from"), list(ways), default="hub", key="get-way", format_func=lambda one: ways[one]
        )
        if way == "here":
            _from_here(host)
        else:
            _from_hub(host)
    for kind in (weights_fetching.KIND, weights_pushing.KIND):
        last = history.latest(kind, host.id)
        if last is not None:
            with st.container(border=True, key=f"{kind}-job"):
                st.page_link("job.py", label=f"#{last.id} {words(last.title)}", query_params={"job": str(last.id)})
                job_panel(last.id)


def _from_hub(host: Host) -> None:
    left, right = st.columns([2, 1])
    asked = repository(st.query_params.get("model", ""))
    known = list(dict.fromkeys([*repositories(), *([asked] if asked else [])]))
    name = left.selectbox(
        t("Model, as OWNER/NAME"),
        known,
        key=f"get-name-{asked}" if asked else "get-name",
        index=known.index(asked) if asked else None,
        accept_new_options=True,
        placeholder=t("choose one, or type its name"),
    )
    hubs = {Hub.MODELSCOPE: "ModelScope", Hub.HUGGINGFACE: "Hugging Face"}
    hub = right.selectbox(t("Hub"), list(hubs), key="get-hub", format_func=lambda one: hubs[one])
    left, right = st.columns([2, 1])
    endpoint = left.text_input(
        t("Address of the hub, or of a mirror"), key=f"get-endpoint-{hub}", placeholder=usual_endpoint(hub)
    )
    revision = right.text_input(t("Revision"), key="get-revision", placeholder=t("the main branch"))
    into = st.text_input(t("Folder for models on the host"), key="get-into", placeholder=f"{host.work_folder}/models")
    if not name:
        st.caption(t("The host asks the hub itself; it needs curl or python3, and a way to the internet."))
        return
    try:
        one = remote(hub, name, revision, endpoint)
        steps = weights.plan(one, weights_fetching.target(host, one, into))
    except ConsoleError as error:
        st.error(marked(error.text))
        return
    st.button(
        t("Fetch it"),
        key="get-fetch",
        type="primary",
        icon=":material/download:",
        on_click=attempt,
        args=(_start_fetch, host, one, into),
        help=t("A cut is continued at the byte; each file is compared with the checksum that the hub names."),
    )
    if st.toggle(t("Show every command first"), key="get-steps"):
        for step in steps:
            st.markdown(marked(step.title))
            if step.script:
                st.code(step.script, language="bash")


def _start_fetch(host: Host, one: Remote, into: str) -> int:
    return weights_fetching.start(host, one, into=into, actor=who())


def _from_here(host: Host) -> None:
    own = [one.folder for one in launch.models_on(inventory.this_machine()) if one.usable]
    source = st.selectbox(
        t("Model folder on this machine"),
        own,
        key="push-folder",
        index=None,
        accept_new_options=True,
        placeholder=t("choose one, or type its whole path"),
    )
    hosts = {one.id: one for one in inventory.hosts()}
    chosen = st.multiselect(
        t("Send it to"),
        list(hosts),
        default=[host.id] if host.id in hosts and host.reach is not None else [],
        key=f"push-hosts-{host.id}",
        format_func=lambda one: words(hosts[one].label),
        placeholder=t("a host"),
    )
    limit = st.number_input(
        t("At most (MB per second, 0 for no limit)"), min_value=0.0, value=0.0, step=10.0, key="push-limit"
    )
    why = t("Choose a model folder.") if not source else "" if chosen else t("Choose at least one host.")
    st.button(
        t("Send it"),
        key="push-model",
        type="primary",
        icon=":material/upload:",
        disabled=bool(why),
        help=why or t("What is there already is not sent again; a cut is continued, and each file is verified there."),
        on_click=attempt,
        args=(weights_pushing.start, Path(source or ""), chosen),
        kwargs={"limit_mb": limit or None, "actor": who()},
    )
