"""The walk through the pilot of a host: one stage at a time, what to do in it, back and next, and the plain page."""

from collections.abc import Callable, Sequence

import streamlit as st

from console.checks import Judged
from console.hosts import inventory
from console.jobs import path, ways
from console.jobs.stages import Looked, Stage, StageState
from console.jobs.ways import Way
from console.surface.ui import attempt, mark, marked, t, who, words
from console.surface.way_back import place
from console.text import Text, say

TITLES: dict[str, Text] = {
    "host": say("Host"),
    "check": say("Check"),
    "fix": say("Fix"),
    "install": say("Install"),
    "serve": say("Serve"),
    "try": say("Try"),
    "measure": say("Measure"),
}
ABOUT: dict[str, Text] = {
    "host": say("The console must reach the host, and its user must be allowed to run commands there."),
    "check": say("The host is asked about itself, and the answers are compared with what a pilot needs."),
    "fix": say("What fails is mended on the host; the Checklist says how, and the check is made again."),
    "install": say("vLLM and two small models are brought into the work folder on the host; nothing else is changed."),
    "serve": say("The model is started as a server. Ready means that it answered a simple question well."),
    "try": say("A first question is asked; after that the Playground is yours."),
    "measure": say("A few requests are timed, one at a time and four at a time."),
}
ACTIONS: dict[str, tuple[str, Text]] = {
    "host": ("check", say("Ask it now")),
    "check": ("check", say("Check now")),
    "fix": ("check", say("Check again")),
    "install": ("install", say("Install")),
    "serve": ("start", say("Start the model")),
    "try": ("try", say("Ask a first question")),
    "measure": ("measure", say("Measure")),
}
"""The kind of job that does the stage alone, and the words on its button."""
PLAIN: dict[str, Text] = {
    "host": say("Open Hosts"),
    "check": say("Open the Checklist"),
    "fix": say("Open the Checklist"),
    "install": say("Open Install"),
    "serve": say("Open Instances"),
    "try": say("Open the Playground"),
    "measure": say("Open the Monitor"),
}
MOST_FIXES = 8


def walk(host: inventory.Host, at: Looked, seen: Sequence[Stage], ready: int | None, *, busy: int | None) -> None:
    """The stage in the address line, else the first that is not done: whoever comes back goes on where it stands."""
    failed = None if at.checked is None else [one for one in at.checked.judged if one.failed]
    states = {stage.name: stage for stage in seen}
    order = list(TITLES)
    first = next((name for name in order if not _done(name, states, failed)), order[-1])
    asked = st.query_params.get("stage", "")
    name = asked if asked in order else first
    number = order.index(name)
    with st.container(border=True, key="walk"):
        with st.container(horizontal=True, vertical_alignment="center"):
            _step(order, number - 1, t("Back"), "walk-back", ":material/arrow_back:", t("This is the first stage."))
            st.markdown(f"**{words(TITLES[name])}**", width="content")
            st.markdown(mark(_mark(name, states, failed)), width="content")
            st.space("stretch")
            if name != first:
                label = t("Go to what is next: {stage}", stage=TITLES[first])
                st.button(label, key="walk-first", type="tertiary", on_click=_go, args=(first,))
            _step(order, number + 1, t("Next"), "walk-next", ":material/arrow_forward:", t("This is the last stage."))
        st.write(words(ABOUT[name]))
        if name in states and name != "check":
            st.text(words(states[name].words))
        if name in ("check", "fix"):
            _fixes(host, at.way, failed, states["check"])
        _do(host, name, ready, busy, done=_done(name, states, failed))


def _done(name: str, states: dict[str, Stage], failed: list[Judged] | None) -> bool:
    """A stage that was done and was not looked at lately is done all the same: nobody is sent back for its age."""
    if name == "fix":
        return failed == []
    if name == "check":
        return failed is not None and states["check"].state != StageState.RUNNING
    return states[name].state in (StageState.OK, StageState.STALE)


def _mark(name: str, states: dict[str, Stage], failed: list[Judged] | None) -> str:
    if name == "fix":
        return "todo" if failed is None else "fail" if failed else "ok"
    return states[name].state


def _step(order: Sequence[str], to: int, label: str, key: str, icon: str, why_not: str) -> None:
    there = 0 <= to < len(order)
    st.button(
        label,
        key=key,
        icon=icon,
        disabled=not there,
        help=words(TITLES[order[to]]) if there else why_not,
        on_click=_go,
        args=(order[to] if there else "",),
    )


def _go(name: str) -> None:
    st.query_params["stage"] = name


def _fixes(host: inventory.Host, way: Way, failed: list[Judged] | None, check: Stage) -> None:
    """What fails and how to mend it, each leading to its place on the Checklist and from there back here."""
    st.text(words(check.words))
    if way.question is not None:
        st.info(marked(way.question), icon=":material/help:")
        st.button(
            t("Use its CPU"), key="use-cpu", on_click=attempt, args=(ways.choose_cpu, host.id), kwargs={"actor": who()}
        )
    for one in (failed or [])[:MOST_FIXES]:
        fix = "" if one.verdict.fix is None else f"  \n{t('How to fix it')}: {marked(one.verdict.fix)}"
        columns = st.columns([9, 3], vertical_alignment="center")
        columns[0].markdown(f"{mark('fail')} **{words(one.title)}** · {marked(one.verdict.seen)}{fix}")
        page, address = place("fix", host.id)
        address |= {"check": one.name, "profile": way.profile}
        label = t("Show it on the Checklist")
        columns[1].page_link(page, label=label, query_params=address, icon=":material/build:")
    if failed and len(failed) > MOST_FIXES:
        st.caption(t("{count} more on the Checklist", count=len(failed) - MOST_FIXES))


def _do(host: inventory.Host, name: str, ready: int | None, busy: int | None, *, done: bool) -> None:
    kind, label = ACTIONS[name]
    act: Callable[..., int] = path.start
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            words(label),
            key=f"walk-{name}",
            type="secondary" if done else "primary",
            disabled=busy is not None,
            help=t("A job is at work on it.") if busy is not None else t("Only this stage."),
            on_click=attempt,
            args=(act, kind, host.id),
            kwargs={"actor": who()},
        )
        page, address = place(name, host.id, ready)
        st.page_link(page, label=words(PLAIN[name]), query_params=address)
        if name == "serve":
            st.page_link("launch.py", label=t("Choose another model"), query_params=address)
