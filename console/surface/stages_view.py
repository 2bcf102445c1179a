"""The pilot path on Home: one line a stage, and the one button that says what is next."""

from collections.abc import Sequence

import streamlit as st

from console.hosts import inventory
from console.jobs import history, jobs, path
from console.jobs.stages import Stage, StageState, stages
from console.surface.ui import ago, attempt, mark, span, t, who, words
from console.text import Text, say

TITLES: dict[str, Text] = {
    "host": say("Host"),
    "check": say("Check"),
    "install": say("Install"),
    "serve": say("Serve"),
    "try": say("Try"),
    "measure": say("Measure"),
}
PAGES = {
    "host": "hosts.py",
    "check": "checklist.py",
    "install": "install.py",
    "serve": "instances.py",
    "try": "playground.py",
    "measure": "monitor.py",
}


def pilot_path(host: inventory.Host) -> None:
    """The stages of this host; ticks while a job of the path is active."""
    active = bool(history.jobs(1, host_id=host.id, active_only=True))

    @st.fragment(run_every=1.0 if active else 10.0)
    def panel() -> None:
        running = history.jobs(1, host_id=host.id, active_only=True)
        if bool(running) != active:
            st.rerun()
        seen = stages(host)
        _button(host, seen, running[0].id if running else None)
        with st.container(border=True, key="stages"):
            for number, stage in enumerate(seen, start=1):
                _line(number, stage)
        _took(host)

    panel()


def _button(host: inventory.Host, seen: Sequence[Stage], running: int | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if running is not None:
            # It keeps its place, or the second half of a double click would stop what the first began.
            busy = t("A job is at work on it.")
            st.button(t("Start the pilot on this machine"), key="start-pilot", type="primary", disabled=True, help=busy)
            st.button(
                t("Stop the pilot"),
                key="stop-pilot",
                on_click=attempt,
                args=(jobs.cancel, running),
                kwargs={"actor": who()},
                help=t("It ends the step that runs; what is done stays done."),
            )
            st.page_link("job.py", label=t("Show the job"), query_params={"job": str(running)}, icon=":material/list:")
            return
        done = all(stage.state == StageState.OK for stage in seen)
        again = any(stage.state not in (StageState.TODO, StageState.OK) for stage in seen[1:])
        label = (
            t("Run the pilot again on this machine")
            if done
            else (t("Continue the pilot on this machine") if again else t("Start the pilot on this machine"))
        )
        st.button(
            label,
            key="start-pilot",
            type="secondary" if done else "primary",
            icon=":material/play_arrow:",
            on_click=attempt,
            args=(path.start_pilot, host.id),
            kwargs={"actor": who()},
        )
        if done:
            st.page_link("playground.py", label=t("Talk to the model"), icon=":material/chat:")
            st.page_link("monitor.py", label=t("Watch it work"), icon=":material/monitoring:")


def _line(number: int, stage: Stage) -> None:
    columns = st.columns([0.6, 2, 2.2, 7, 2.2, 1.8], vertical_alignment="center")
    columns[0].markdown(f":gray[{number}]")
    columns[1].page_link(PAGES[stage.name], label=f"**{words(TITLES[stage.name])}**")
    columns[2].markdown(mark(_word(stage)))
    columns[3].text(words(stage.words))
    columns[4].caption(ago(stage.seen) if stage.seen and stage.name != "host" else "")
    if stage.job_id is not None and stage.elapsed_s is not None:
        columns[5].page_link(
            "job.py",
            label=span(stage.elapsed_s),
            query_params={"job": str(stage.job_id)},
            help=t("How long its job took; opens the job."),
        )


def _word(stage: Stage) -> str:
    """The state in the word that is true of this stage: a host is reachable, a server ready, the rest done."""
    if stage.state == StageState.OK:
        return {"host": "reachable", "serve": "ready"}.get(stage.name, "ok")
    return stage.state


def _took(host: inventory.Host) -> None:
    last = history.latest("measure", host.id)
    if last is None or last.ended is None or last.state != "succeeded":
        return
    chain = history.journey(last.journey)
    if chain[0].kind == "check" and chain[0].started is not None:
        st.caption(t("From the first check to the last measurement: {span}", span=span(last.ended - chain[0].started)))
