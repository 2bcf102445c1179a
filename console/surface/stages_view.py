"""The pilot path on Home: one line a stage, the one button that says what is next, and how long it took so far."""

from collections.abc import Sequence

import streamlit as st

from console.hosts import inventory
from console.jobs import history, jobs, path
from console.jobs.stages import Stage, StageState, look, stages
from console.jobs.timeline import Span, Timeline, timeline
from console.serving import instances
from console.serving.state import State
from console.surface.ui import ago, attempt, clock, mark, span, t, who, words
from console.surface.walk_view import TITLES, walk
from console.surface.way_back import place


def pilot_path(host: inventory.Host) -> None:
    """The stages of this host and the walk through them; ticks while a job of the path is active."""
    active = bool(history.jobs(1, host_id=host.id, active_only=True))

    @st.fragment(run_every=1.0 if active else 10.0)
    def panel() -> None:
        running = history.jobs(1, host_id=host.id, active_only=True)
        if bool(running) != active:
            st.rerun()
        at = look(host)
        seen = stages(host, at)
        ready = ready_on(host)
        _button(host, seen, running[0].id if running else None, ready)
        with st.container(border=True, key="stages"):
            for number, stage in enumerate(seen, start=1):
                _line(host, number, stage, ready)
        _took(timeline(host))
        walk(host, at, seen, ready, busy=running[0].id if running else None)

    panel()


def ready_on(host: inventory.Host) -> int | None:
    """The server of this host to talk to: ready, and no random noise where there is a choice."""
    mine = [one for one in instances.instances() if one.host_id == host.id and one.state == State.ready]
    return min(mine, key=lambda one: one.noise).id if mine else None


def _button(host: inventory.Host, seen: Sequence[Stage], running: int | None, ready: int | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if running is not None:
            # It keeps its place, or the second half of a double click would stop what the first began.
            busy, label = t("A job is at work on it."), t("Start the pilot on {host}", host=host.title)
            st.button(label, key="start-pilot", type="primary", disabled=True, help=busy)
            st.button(
                t("Stop the pilot"),
                key="stop-pilot",
                on_click=attempt,
                args=(jobs.cancel, running),
                kwargs={"actor": who()},
                help=t("It ends the step that runs, and a server that is just starting; what is done stays done."),
            )
            st.page_link("job.py", label=t("Show the job"), query_params={"job": str(running)}, icon=":material/list:")
            return
        done = all(stage.state == StageState.OK for stage in seen)
        again = any(stage.state not in (StageState.TODO, StageState.OK) for stage in seen[1:])
        label = (
            t("Run the pilot again on {host}", host=host.title)
            if done
            else t("Continue the pilot on {host}", host=host.title)
            if again
            else t("Start the pilot on {host}", host=host.title)
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
        if done and ready is not None:
            which = {"instance": str(ready)}
            st.page_link("playground.py", label=t("Talk to the model"), query_params=which, icon=":material/chat:")
            st.page_link("monitor.py", label=t("Watch it work"), query_params=which, icon=":material/monitoring:")


def _line(host: inventory.Host, number: int, stage: Stage, ready: int | None) -> None:
    columns = st.columns([0.6, 2, 2.2, 7, 2.2, 1.8], vertical_alignment="center")
    columns[0].markdown(f":gray[{number}]")
    page, address = place(stage.name, host.id, ready)
    columns[1].page_link(page, label=f"**{words(TITLES[stage.name])}**", query_params=address)
    columns[2].markdown(mark(_word(stage)))
    columns[3].text(words(stage.words))
    columns[4].caption(ago(stage.seen) if stage.seen and (stage.name != "host" or host.reach is not None) else "")
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


def _took(known: Timeline) -> None:
    """The stages on a line of time that begins with the bare host."""
    if known.to_answer_s is None:
        entered, worked = ago(known.added), span(known.work_s)
        st.caption(
            t("The host was entered {ago}; work on it so far: {span}", ago=entered, span=worked)
            if known.work_s
            else t("The host was entered {ago}.", ago=entered)
        )
    else:
        whole = t("Bare host to first answer: {span}", span=span(known.to_answer_s))
        work = t("of which work: {span}", span=span(known.work_s))
        st.caption(f"**{whole}** · {work}")
    done = [one for one in known.spans if one.done is not None]
    if len(done) < 2:
        return
    with st.container(key="timeline"):
        for column, one in zip(st.columns(len(known.spans)), known.spans, strict=True):
            if one.done is None:
                column.caption(f"{words(TITLES[one.name])}  \n–")
                continue
            after = span(one.done - known.added)
            since = t("first asked after {span}", span=after) if one.name == "host" else t("after {span}", span=after)
            column.caption(f"{words(TITLES[one.name])}  \n**{since}**", help=_when(one))


def _when(one: Span) -> str:
    """What was done elsewhere and written down here afterwards, as an installation by hand, has no length here."""
    began, done = clock(one.began), clock(one.done)
    if one.took_s is None or one.took_s < 1:
        return t("first done {done}", done=done)
    return t("began {began}, first done {done}, took {span}", began=began, done=done, span=span(one.took_s))
