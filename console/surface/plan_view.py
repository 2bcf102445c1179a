"""A plan that can be read, copied and exported before it runs."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import streamlit as st

from console.hosts.inventory import Host
from console.jobs import by_hand
from console.plans.ascend import QUESTION, RESTART
from console.plans.runbook import runbook
from console.plans.step import Step
from console.surface.calm_table import Cell, Head, calm_table
from console.surface.ui import attempt, language, roughly, sentence_case, t, words
from console.text import Text

LEAST_SHARED = 8
"""Lines; what steps share by chance is shorter."""
ASSIGNED = re.compile(r"""(\w+)=(?:'[^']*'|"'"|[^\s'"])*\n""")
"""One value as the plans write it: a name and a word quoted for the shell."""
MOST_SHOWN = 200


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
    _steps(steps, key)
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
    numbers = {step.name: number for number, step in enumerate(steps)}
    name = st.selectbox(
        t("Read the step"),
        list(numbers),  # by name: a plan that became shorter has another step at each place
        index=None,
        key=f"{key}plan-step",
        format_func=lambda one: f"{numbers[one] + 1}. {words(steps[numbers[one]].title)}" if one in numbers else one,
        placeholder=t("a step"),
    )
    if name in numbers:
        chosen = steps[numbers[name]]
        if chosen.action == RESTART:
            st.caption(t("It asks first: {question}", question=QUESTION))
        _script([one.script for one in steps], chosen.script, f"{key}whole-script")
        if chosen.verify:
            st.caption(t("It counts as done when this succeeds:"))
            _script([one.verify for one in steps], chosen.verify, f"{key}whole-verify")
        if chosen.rollback is not None:
            st.caption(t("To take it back: {how}", how=chosen.rollback))


def _steps(steps: Sequence[Step], key: str) -> None:
    """Every step with what it would take, and where the console itself acts."""
    step, span = sentence_case(t("step")), sentence_case(t("takes about"))
    heads = (Head("#", right=True), Head(step, text=True), Head(span, right=True), Head(""))
    rows = [
        (Cell(str(number)), Cell(words(one.title)), Cell(roughly(one.expected_s)), Cell(_remark(one), "quiet"))
        for number, one in enumerate(steps, 1)
    ]
    calm_table(f"{key}plan-steps", heads, rows)


def _remark(step: Step) -> str:
    if step.action == RESTART:
        return t("only if needed, and it asks before")
    return t("done by the console itself") if step.action else ""


def _script(scripts: Sequence[str], script: str, key: str) -> None:
    """What is the step's own first, then on demand the whole as it runs."""
    own = own_lines([one for one in scripts if one], script)
    st.code(own, language="bash")
    if own == script:
        return
    with st.expander(t("The whole script, with the values and functions that the steps share"), key=key):
        st.code(script, language="bash")


def own_lines(scripts: Sequence[str], script: str) -> str:
    """`script` without the longest run of lines that the first two scripts share, and of what stands before it only
    the values that the rest names.

    The whole where they share little or it has none of that.
    """
    if len(scripts) < 2:
        return script
    one, other = (text.splitlines() for text in scripts[:2])
    run = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    shared = "\n".join(one[run.a : run.a + run.size])
    head, found, own = script.partition(shared)
    if run.size < LEAST_SHARED or not found or not own.strip():
        return script
    return "\n".join([*_named(head + shared, own), own.strip("\n")])


def _named(head: str, own: str) -> Iterator[str]:
    """Assignments at the beginning of a script whose values the lines of its own name; lists stay in the whole."""
    at = 0
    while found := ASSIGNED.match(head, at):
        at = found.end()
        line = len(found[0]) < MOST_SHOWN and found[0].count("\n") == 1
        if line and found[1] != "question" and re.search(rf"\$\{{?{found[1]}\b", own):
            yield found[0].rstrip("\n")
