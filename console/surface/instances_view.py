"""How an instance looks and what can be done with it."""

import signal

import streamlit as st

from console.errors import NotFound
from console.jobs import history, path
from console.jobs.logs import attempt_log
from console.serving import instances, stopping
from console.serving.backends import backend
from console.serving.instances import Attempt, Instance
from console.serving.state import State
from console.surface.ui import ago, attempt, clock, mark, marked, span, t, who, words
from console.text import Text, say


def instance_card(one: Instance) -> None:
    """Name and state in the first line, why in the second, what can be done in the third."""
    with st.container(border=True, key=f"instance-{one.id}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link("instance.py", label=f"**{one.name}**", query_params={"instance": str(one.id)})
            st.markdown(mark(one.state), width="content")
            st.caption(f"{about(one)} · {t('attempt {n}', n=one.attempt)}", width="content")
            if one.noise:
                st.caption(t("random weights: its words are noise"), width="content")
        busy = at_work(one)
        if (why := _why(one, busy=busy)) is not None:
            st.text(words(why))
        buttons(one, busy=busy)


def about(one: Instance) -> str:
    """How vLLM runs there, where, and on which cards."""
    cards = t("NPU {numbers}", numbers=", ".join(map(str, one.spec.device_ids))) if one.spec.device_ids else ""
    parts = (words(backend(one.backend).title), words(one.spot), cards)
    return " · ".join(part for part in parts if part)


def at_work(one: Instance) -> bool:
    """Whether a job is at work on it, or will be."""
    return any(job.active for job in history.for_subject(one.subject, 1))


def _why(one: Instance, *, busy: bool) -> Text | None:
    """Why it is so; of one that rests while its start is under way, that. "Stopped" needs no reason."""
    if busy and one.state in instances.RESTING:
        return say("A job is at work on it.")
    return None if one.state == State.stopped else one.reason


def buttons(one: Instance, *, busy: bool) -> None:
    """Start or stop, restart, and the ways to talk to it and watch it."""
    resting = one.state in instances.RESTING
    with st.container(horizontal=True, vertical_alignment="center", key=f"buttons-{one.id}"):
        if resting:
            st.button(
                t("Start"),
                key=f"start-{one.id}",
                type="primary",
                on_click=attempt,
                args=(start, one),
                disabled=busy,
                help=t("A job is at work on it.") if busy else None,
            )
        else:
            st.button(
                t("Stop"),
                key=f"stop-{one.id}",
                on_click=attempt,
                args=(stopping.ask, one.id),
                kwargs={"actor": who()},
                disabled=one.state == State.stopping,
                help=t("It is being stopped.") if one.state == State.stopping else None,
            )
            st.button(
                t("Restart"),
                key=f"restart-{one.id}",
                on_click=attempt,
                args=(restart, one),
                disabled=one.state == State.stopping,
                help=t("It is being stopped.") if one.state == State.stopping else None,
            )
        if one.state == State.ready:
            st.page_link(
                "playground.py", label=t("Talk"), query_params={"instance": str(one.id)}, icon=":material/chat:"
            )
            st.page_link(
                "monitor.py", label=t("Watch"), query_params={"instance": str(one.id)}, icon=":material/monitoring:"
            )


def start(one: Instance) -> int:
    """Queue its start."""
    return path.queue(path.start_instance(one.id), "start", one.host_id, actor=who())


def restart(one: Instance) -> int:
    """Queue its end and its next start."""
    return path.queue(path.restart_instance(one.id), "restart", one.host_id, actor=who())


@st.fragment(run_every=1.0)
def state_view(instance_id: int) -> None:
    """How it is now and why, what can be done, and while it runs its sanity answer; looks again every second."""
    try:
        one = instances.instance(instance_id)
    except NotFound:
        st.rerun()
    busy = at_work(one)
    parts = [mark(one.state), marked(_why(one, busy=busy))]
    if one.observed and one.attempt:
        parts.append(f"{t('looked at')} {ago(one.observed)}")
    st.markdown(" · ".join(part for part in parts if part))
    buttons(one, busy=busy)
    evidence = one.health.get("evidence")
    if isinstance(evidence, dict) and one.state not in instances.RESTING:
        asked, took = str(evidence["question"]), span(evidence.get("latency_s"))
        st.markdown(t("Asked “{question}”; the answer took {span}:", question=asked, span=took))
        st.code(str(evidence["answer"]), language=None, wrap_lines=True)
    for job in history.for_subject(one.subject, 1):
        if job.active:
            st.page_link("job.py", label=words(job.title), query_params={"job": str(job.id)}, icon=":material/list:")


@st.fragment(run_every=2.0)
def attempts_view(instance_id: int) -> None:
    """Every start with its command and its own log; a failed attempt stays readable after the next."""
    one = instances.stored(instance_id)
    if one is None:
        return
    known = {each.number: each for each in instances.attempts(one.id)}
    if not known:
        st.caption(t("It was never started."))
        return
    key = f"attempt-{max(known)}-of-{one.id}"  # a new attempt is shown as soon as there is one
    number = st.selectbox(t("Attempt"), list(known), key=key, format_func=lambda each: _attempt_line(known[each]))
    chosen = known[number]
    st.code(chosen.command, language="bash")
    with st.container(height=360, autoscroll=True, key=f"attempt-log-{one.id}"):
        printed = attempt_log(one.id, chosen.number).tail()
        st.code(printed or t("(it printed nothing)"), language=None, wrap_lines=True)


def _attempt_line(one: Attempt) -> str:
    words = f"{one.number} · {clock(one.started)} · {one.actor}"
    if one.ready is not None:
        words += f" · {t('ready after {span}', span=span(one.ready - one.started))}"
    if one.ended is not None:
        code = _exit_code(one.code)
        words += f" · {t('ended after {span}', span=span(one.ended - one.started))} · {code}"
    return words


def _exit_code(code: int | None) -> str:
    """With the signal, by which shells count from 128 on: 143 is how a server ends that was asked to."""
    if code is None:
        return t("no exit code")
    if code - 128 in list(signal.Signals):
        return t("exit code {code} ({signal})", code=code, signal=signal.Signals(code - 128).name)
    return t("exit code {code}", code=code)


def delete_button(one: Instance) -> None:
    """Deleting asks once more; only what rests can be deleted."""
    resting = one.state in instances.RESTING
    if st.button(
        t("Delete this instance"),
        key="delete-instance",
        disabled=not resting,
        help=None if resting else t("Stop it first."),
    ):
        _confirm_delete(one)


@st.dialog(" ")
def _confirm_delete(one: Instance) -> None:
    st.write(t("Delete {name}? Its settings go; its history and logs stay.", name=one.name))
    if st.button(
        t("Delete"),
        key="really-delete",
        type="primary",
        on_click=attempt,
        args=(instances.delete, one.id),
        kwargs={"actor": who()},
    ):
        st.switch_page("instances.py")
