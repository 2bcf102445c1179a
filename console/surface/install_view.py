"""Installing on a host with NPUs, on the page: which stack, from where, its plan, a dry run, and the start."""

from collections.abc import Sequence

import streamlit as st

from console.errors import ConsoleError
from console.hosts import inventory
from console.hosts.inventory import Host
from console.jobs import installing, stacks
from console.jobs.stacks import Wish
from console.plans.ascend import Source
from console.plans.needs import DriverState
from console.plans.refusals import Route
from console.plans.resolve import Resolution, Stack, in_language
from console.plans.step import Step
from console.surface.dry_run_view import dry_run_button, dry_run_table
from console.surface.plan_view import plan_preview
from console.surface.ui import attempt, language, marked, t, who, words


def choose_and_start(host: Host, *, running: bool) -> Stack | None:
    """Everything from the choice to the button; the plan shown is the one that would run. The stack that is chosen."""
    try:
        found = stacks.resolution(host)
    except ConsoleError as error:
        st.error(marked(error.text))
        return None
    if not found.stacks:
        st.warning(t("No release fits this host; below stands why for each."))
        _refused(found)
        return None
    stack, wish = _wish(host, found)
    _refused(found)
    try:
        _, name, steps = installing.made(host, wish)
    except ConsoleError as error:
        st.error(marked(error.text))
        return stack
    others = _others(host)
    _buttons(host, wish, steps, others, running=running)
    dry_run_table("dry-run", host, steps)
    with st.expander(t("What an installation does, step by step"), expanded=not running, key="install-plan"):
        plan_preview(host, "install", name, steps)
    return stack


def what_comes_next(host: Host) -> None:
    """Where to go once the host is ready to serve."""
    with st.container(horizontal=True, vertical_alignment="center", key="next"):
        st.caption(t("What comes next:"), width="content")
        on_host = {"host": str(host.id)}
        st.page_link("models.py", label=t("Bring a model"), query_params=on_host, icon=":material/deployed_code:")
        st.page_link("launch.py", label=t("Launch a server"), query_params=on_host, icon=":material/rocket_launch:")


def _wish(host: Host, found: Resolution) -> tuple[Stack, Wish]:
    """What the widgets say; they begin with what was chosen last, else with the best."""
    last = stacks.last_wish(host) or Wish()
    by_name = {_key(one): one for one in found.stacks}
    first = next((name for name, one in by_name.items() if _is(one, last)), next(iter(by_name)))
    chosen = st.selectbox(
        t("What to install, the best first"),
        list(by_name),
        index=list(by_name).index(first),
        key=f"stack-{host.id}",
        format_func=lambda name: _line(by_name[name]),
    )
    stack = by_name[chosen]
    with st.container(key=f"notes-{host.id}", gap=None):
        for need in stack.steps:
            st.markdown(f"- {marked(need.text)}")
        for note in stack.notes:
            st.caption(in_language(note, language()))
    source = st.segmented_control(
        t("Packages come from"),
        list(Source),
        default=last.source,
        required=True,
        key=f"source-{host.id}",
        format_func={
            Source.FOLDER: t("a folder on the host (a bundle)"),
            Source.INDEX: t("the indexes the host reaches"),
        }.__getitem__,
    )
    folder = st.text_input(
        t("Folder of packages on the host"),
        value=last.packages,
        key=f"folder-{host.id}",
        placeholder=f"{host.work_folder}/packages",
        help=t("Wheels lie in it below wheels, archives of images below images. Driver, firmware and CANN are always "
               "taken from it."),
    )  # fmt: skip
    return stack, Wish(stack.route, stack.release.vllm_ascend, Source(source), folder.strip())


def _key(one: Stack) -> str:
    return f"{one.route} {one.release.vllm_ascend} {one.variant.cann}"


def _is(one: Stack, last: Wish) -> bool:
    return last.route == one.route and last.release == one.release.vllm_ascend


def _line(one: Stack) -> str:
    way = t("in a container") if one.route is Route.DOCKER else t("without a container")
    driver = {
        DriverState.FITS: t("the driver stays"),
        DriverState.UNLISTED: t("the driver stays, but no table of the vendor names it"),
        DriverState.UPGRADE: t("the driver will be upgraded"),
        DriverState.INSTALL: t("the driver will be installed"),
    }[one.driver.state]
    return f"vllm-ascend {one.release.vllm_ascend} · {way} · CANN {one.variant.cann} · Python {one.python} · {driver}"


def _refused(found: Resolution) -> None:
    if not found.refused:
        return
    with st.expander(t("Why others do not fit ({count})", count=len(found.refused)), key="refused"):
        for one in found.refused:
            way = t("in a container") if one.route is Route.DOCKER else t("without a container")
            st.markdown(f"**vllm-ascend {one.release.vllm_ascend}** · {way}  \n{one.words(language())}")


def _others(host: Host) -> list[Host]:
    """Other hosts over SSH that may be installed in the same way at the same time."""
    known = {one.id: one for one in inventory.hosts() if one.id != host.id and one.reach is not None}
    if not known:
        return []
    picked = st.multiselect(
        t("Also on these hosts, side by side"),
        list(known),
        key=f"others-{host.id}",
        format_func=lambda number: words(known[number].label),
        placeholder=t("a host"),
    )
    return [known[number] for number in picked]


def _buttons(host: Host, wish: Wish, steps: Sequence[Step], others: Sequence[Host], *, running: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            t("Install"),
            key="install-now",
            type="primary",
            icon=":material/download:",
            disabled=running,
            on_click=_start,
            args=([host, *others], wish),
            help=t("A job is at work on it.") if running else t("What is there already is kept."),
        )
        dry_run_button("dry-run", host, steps)


def _start(hosts: Sequence[Host], wish: Wish) -> None:
    for one in hosts:
        attempt(installing.start, one.id, wish, actor=who())
