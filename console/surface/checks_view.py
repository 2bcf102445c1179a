"""How one judgement looks, with its evidence."""

from collections.abc import Sequence

import streamlit as st

from console.catalog.profiles import PROFILES
from console.checks import Judged, Level
from console.hosts.observe import Checked
from console.surface.ui import language, mark, marked, t, words


def chosen_profile(known: Sequence[str]) -> str:
    """What the host is compared with; asked only where there is a choice."""
    if len(known) == 1:
        return known[0]
    return st.selectbox(
        t("Compare with"), known, key="profile", format_func=lambda one: PROFILES[one].title[language()]
    )


def tally(judged: Sequence[Judged]) -> str:
    """How many of each level, as Markdown."""
    counts = [(level, sum(one.verdict.level == level for one in judged)) for level in Level]
    return " · ".join(f"{mark(level)} {count}" for level, count in counts if count)


def check_line(one: Judged, checked: Checked) -> None:
    """One check: its line tells the level and what was seen, inside is everything else."""
    verdict = one.verdict
    label = f"{mark(verdict.level)} · **{words(one.title)}** · {marked(verdict.seen)}"
    with st.expander(label, key=f"check-{one.name}", expanded=verdict.level == Level.FAIL):
        st.markdown(
            f"{t('Seen')}: {marked(verdict.seen)}  \n{t('Wanted')}: {marked(verdict.wanted)}  \n"
            f"{t('Why')}: {words(one.why)}"
        )
        if verdict.fix is not None:
            st.markdown(f"**{t('How to fix it')}**: {marked(verdict.fix)}")
        if verdict.fix_command:
            st.code(verdict.fix_command, language="bash")
        for name in one.facts:
            raw = checked.raws.get(name)
            if raw is not None:
                st.caption(t("evidence: {name}", name=name))
                st.code(raw.text[:4000] or t("(it printed nothing)"), language=None)
