"""How a job looks: its head, its steps with logs, its buttons; the same on every page."""

import streamlit as st

from console.jobs import history, jobs
from console.jobs.history import JobView, StepView
from console.jobs.states import RESUMABLE, JobState, StepState
from console.surface import sudo_view
from console.surface.findings_view import findings_of
from console.surface.ui import attempt, clock, mark, marked, roughly, span, t, who, words
from console.text import Text, say, verbatim

MOST_LINE = 400
"""Signs of a last line of a log that stand at the head of a job."""


def job_panel(job_id: int) -> None:
    """A live job: ticks once a second while it is active, then stands still."""
    active = history.job(job_id).active

    @st.fragment(run_every=1.0 if active else None)
    def panel() -> None:
        job = history.job(job_id)
        if active and not job.active:
            st.rerun()
        _head(job)
        for step in job.steps:
            _step(job, step)

    panel()


def _head(job: JobView) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"job-head-{job.id}"):
        st.markdown(
            f"{mark(job.state)} · {t('{done} of {all} steps', done=job.done, all=len(job.steps))} · "
            f"{_took(job)} · {t('attempt {n}', n=job.attempt)} · {job.actor}"
        )
        st.space("stretch")
        if job.active:
            st.button(
                t("Cancel"),
                key=f"cancel-{job.id}",
                disabled=job.cancel_wanted,
                help=t("It ends the step that runs.") if not job.cancel_wanted else t("It is being cancelled."),
                on_click=attempt,
                args=(jobs.cancel, job.id),
                kwargs={"actor": who()},
            )
        if job.state in RESUMABLE:
            st.button(
                t("Resume"),
                key=f"resume-{job.id}",
                type="primary",
                help=t("Finished steps are kept; the others run again."),
                on_click=attempt,
                args=(jobs.resume, job.id),
                kwargs={"actor": who()},
            )
    if job.question is not None and not sudo_view.question(job):
        _question(job)
    elif job.state == JobState.FAILED and job.reason is not None:
        st.error(_why(job, job.reason), icon=":material/error:")
    elif job.reason is not None and job.state in (JobState.RUNNING, JobState.CANCELLED):
        st.warning(marked(job.reason), icon=":material/link_off:")


def _why(job: JobView, reason: Text) -> str:
    """Which step stopped the job and why, with the last line its script printed: a code alone tells nobody what to do.

    What the console itself did has a reason in whole sentences; its log says them again, in English.
    """
    step = next((one for one in job.steps if one.state == StepState.FAILED), None)
    if step is None or job.by_hand:
        return marked(reason)
    why = marked(say("{number}. {title}: {why}", number=step.number, title=step.step.title, why=reason))
    log = step.log() if step.attempt and not step.step.action else ""
    last = next((line for line in reversed(log.splitlines()) if line.strip()), "")
    return f"{why}  \n{marked(verbatim(last.strip()[:MOST_LINE]))}" if last else why


def _took(job: JobView) -> str:
    if not job.by_hand:
        return span(job.elapsed)
    if job.elapsed is None:
        return t("recorded by hand, without times")
    return t("{span} by what was recorded by hand", span=span(job.elapsed))


def _question(job: JobView) -> None:
    st.warning(marked(job.question), icon=":material/help:")
    with st.container(horizontal=True):
        for answer, label in (("yes", t("Yes, go on")), ("no", t("No"))):
            st.button(
                label,
                key=f"answer-{answer}-{job.id}",
                on_click=attempt,
                args=(jobs.answer, job.id, answer),
                kwargs={"actor": who()},
            )


def _step(job: JobView, step: StepView) -> None:
    expected = roughly(step.step.expected_s)
    times = "" if step.state == StepState.SATISFIED else t("about {span}", span=expected)
    if step.elapsed is not None and step.state != StepState.SATISFIED:
        times = t("{span}, expected about {expected}", span=span(step.elapsed), expected=expected)
    elif step.told_s is not None:
        took = t("{n} s", n=round(step.told_s)) if step.told_s < 60 else span(step.told_s)  # told in whole seconds
        times = t("{span} by hand, expected about {expected}", span=took, expected=expected)
    label = " · ".join(filter(None, (mark(step.state), f"**{words(step.step.title)}**", times)))
    opened = step.state in (StepState.RUNNING, StepState.FAILED)
    # A widget keeps how it was opened; by another name it opens when its step begins or fails, and closes afterwards.
    with st.expander(label, key=f"step-{job.id}-{step.number}-{step.state if opened else 'still'}", expanded=opened):
        if step.reason is not None:
            st.markdown(f":red[{marked(step.reason)}]" if step.state == StepState.FAILED else marked(step.reason))
        if step.started is not None:
            st.caption(
                t("began {began} · attempt {n}", began=clock(step.started), n=step.attempt)
                + (f" · {t('exit code {code}', code=step.code)}" if step.code is not None else "")
            )
        log = step.log() if step.attempt else ""
        if log:
            with st.container(height=240, autoscroll=True, key=f"log-{job.id}-{step.number}"):
                st.code(log[-20_000:], language=None, wrap_lines=True)
        if step.state == StepState.FAILED:
            findings_of(log, f"findings-{job.id}-{step.number}")
        _script(step)
        if job.state in RESUMABLE and step.state != StepState.WAITING:
            _again(job, step)
        if job.state in RESUMABLE and step.state in (StepState.FAILED, StepState.CANCELLED):
            _skip(job, step)


def _script(step: StepView) -> None:
    if step.step.script and st.toggle(t("Show what it runs"), key=f"script-{step.job_id}-{step.number}"):
        st.code(step.step.script, language="bash")
        if step.step.verify:
            st.caption(t("It counts as done when this succeeds:"))
            st.code(step.step.verify, language="bash")


def _again(job: JobView, step: StepView) -> None:
    st.button(
        t("Do this step again"),
        key=f"again-{job.id}-{step.number}",
        help=t("The job goes on from there; the check of the step comes first."),
        on_click=attempt,
        args=(jobs.retry, job.id, step.number),
        kwargs={"actor": who()},
    )


def _skip(job: JobView, step: StepView) -> None:
    key = f"skip-why-{job.id}-{step.number}"
    with st.form(f"skip-{job.id}-{step.number}", border=False):
        st.text_input(t("Skip this step because …"), key=key)
        if st.form_submit_button(t("Skip")):
            attempt(jobs.skip, job.id, step.number, st.session_state[key], actor=who())
            st.rerun()
