"""A plan that can be read, copied and exported before it runs."""

from collections.abc import Sequence

import streamlit as st

from console.hosts.inventory import Host
from console.jobs import by_hand
from console.plans.runbook import runbook
from console.plans.step import Step
from console.surface.ui import attempt, span, t, words
from console.text import Text


def plan_preview(host: Host, kind: str, title: Text, steps: Sequence[Step]) -> None:
    """The very scripts that would run, one below the other, and as one file whose results can come back."""
    total = sum(step.expected_s for step in steps)
    st.caption(
        t(
            "{count} steps, about {span} if nothing is there yet. A step whose check succeeds beforehand is not run.",
            count=len(steps),
            span=span(total),
        )
    )
    st.download_button(
        t("Download as a shell script"),
        runbook(steps, host.name),
        file_name="install.sh",
        mime="text/x-sh",
        key="runbook",
        help=t("It does the same without the console. Bring its results back below."),
        on_click=attempt,
        args=(by_hand.export, host, kind, title, steps),
    )
    chosen = st.selectbox(
        t("Read the step"),
        range(len(steps)),
        index=None,
        key="plan-step",
        format_func=lambda n: f"{n + 1}. {words(steps[n].title)}",
        placeholder=t("a step"),
    )
    if chosen is not None:
        st.code(steps[chosen].script, language="bash")
        if steps[chosen].verify:
            st.caption(t("It counts as done when this succeeds:"))
            st.code(steps[chosen].verify, language="bash")
        if steps[chosen].rollback is not None:
            st.caption(t("To take it back: {how}", how=steps[chosen].rollback))
