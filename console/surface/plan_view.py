"""A plan that can be read, copied and exported before it runs."""

from collections.abc import Sequence
from difflib import SequenceMatcher

import streamlit as st

from console.hosts.inventory import Host
from console.jobs import by_hand
from console.plans.runbook import runbook
from console.plans.step import Step
from console.surface.ui import attempt, language, roughly, t, words
from console.text import Text

LEAST_SHARED = 8
"""Lines; what steps share by chance is shorter."""


def plan_preview(host: Host, kind: str, title: Text, steps: Sequence[Step], *, key: str = "") -> None:
    """The very scripts that would run, one below the other, and as one file whose results can come back.

    `key` is put before the keys of its widgets where a page shows a second plan.
    """
    total = sum(step.expected_s for step in steps)
    st.caption(
        t(
            "{count} steps, about {span} if nothing is there yet. A step whose check succeeds beforehand is not run.",
            count=len(steps),
            span=roughly(total),
        )
    )
    st.download_button(
        t("Download as a shell script"),
        runbook(steps, host.name, language()),
        file_name=f"{kind}.sh",
        mime="text/x-sh",
        key=f"{key}runbook",
        help=t("It does the same without the console. Bring its results back below."),
        on_click=attempt,
        args=(by_hand.export, host, kind, title, steps, language()),
    )
    chosen = st.selectbox(
        t("Read the step"),
        range(len(steps)),
        index=None,
        key=f"{key}plan-step",
        format_func=lambda n: f"{n + 1}. {words(steps[n].title)}",
        placeholder=t("a step"),
    )
    if chosen is not None:
        _script(steps, steps[chosen], key)
        if steps[chosen].verify:
            st.caption(t("It counts as done when this succeeds:"))
            st.code(steps[chosen].verify, language="bash")
        if steps[chosen].rollback is not None:
            st.caption(t("To take it back: {how}", how=steps[chosen].rollback))


def _script(steps: Sequence[Step], step: Step, key: str) -> None:
    """What is the step's own first, then on demand the whole as it runs."""
    own = own_lines([one.script for one in steps if one.script], step.script)
    st.code(own, language="bash")
    if own == step.script:
        return
    with st.expander(
        t("The whole script, with the values and functions that the steps share"), key=f"{key}whole-script"
    ):
        st.code(step.script, language="bash")


def own_lines(scripts: Sequence[str], script: str) -> str:
    """`script` without the longest run of lines that the first two scripts share, and without what stands before it.

    The whole where they share little or it has none of that.
    """
    if len(scripts) < 2:
        return script
    one, other = (text.splitlines() for text in scripts[:2])
    run = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    shared = "\n".join(one[run.a : run.a + run.size])
    _, found, own = script.partition(shared)
    return own.strip("\n") if run.size >= LEAST_SHARED and found and own.strip() else script
