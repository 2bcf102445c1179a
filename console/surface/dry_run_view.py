"""A dry run on the page: its button, and what the checks of the steps said when it was pressed last."""

import time
from collections.abc import Sequence

import streamlit as st

from console.hosts.inventory import Host
from console.jobs import installing
from console.jobs.installing import Looked
from console.plans.step import Step
from console.surface.calm_table import Cell, Head, calm_table
from console.surface.ui import attempt, clock, sentence_case, t, words


def dry_run_button(key: str, host: Host, steps: Sequence[Step]) -> None:
    st.button(
        t("Dry run"),
        key=key,
        icon=":material/checklist:",
        on_click=_look,
        args=(_slot(key, host), host, steps),
        help=t("Runs the check of every step and nothing else; nothing is changed."),
    )


def dry_run_table(key: str, host: Host, steps: Sequence[Step]) -> None:
    """Of the last dry run, where it was one of just these steps: when, what it comes to, and each step."""
    moment, looked = st.session_state.get(_slot(key, host)) or (0.0, [])
    if not looked or [one.step for one in looked] != list(steps):
        return
    step, now, said = map(sentence_case, (t("step"), t("now"), t("what its check says")))
    rows = [
        (Cell(words(one.step.title)), Cell(words(one.standing), _tone(one)), Cell(words(one.words))) for one in looked
    ]
    run = sum(one.state == "waiting" for one in looked)
    done = sum(one.state == "satisfied" for one in looked)
    st.caption(
        t("Dry run of {time}: {run} steps would run, {done} are done already. Nothing was changed.",
          time=clock(moment), run=run, done=done)
    )  # fmt: skip
    calm_table(f"{key}-{host.id}", (Head(step, text=True), Head(now), Head(said, text=True)), rows)


def _tone(one: Looked) -> str:
    return {"satisfied": "quiet", "unknown": "bad"}.get(one.state, "")


def _look(slot: str, host: Host, steps: Sequence[Step]) -> None:
    looked = attempt(installing.dry_run, host, steps)
    st.session_state[slot] = None if looked is None else (time.time(), looked)


def _slot(key: str, host: Host) -> str:
    return f"looked-{key}-{host.id}"
