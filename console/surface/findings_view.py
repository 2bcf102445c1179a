"""What a log says about a failure, beside it: the likely cause, the line that shows it, what to do."""

import streamlit as st

from console.diagnose.findings import Finding, findings
from console.surface.ui import MARKDOWN, language, t


def findings_of(log: str, key: str) -> None:
    """The findings of a log, the first cause open and the others below; nothing where nothing known was said."""
    found = findings(log)
    if not found:
        return
    with st.container(key=key, gap="small", border=True):
        st.markdown(f"**{t('What its log points to')}**")
        for one in found:
            _finding(one)


def _finding(one: Finding) -> None:
    st.markdown(f"{_inert(one.cause(language()))}  \n**{t('What to do')}**  {_inert(one.fix(language()))}")
    st.code(one.evidence, language=None, wrap_lines=True)
    if one.failure.commands:
        st.code("\n".join(one.failure.commands), language="bash")
    seen = t("Line {line} of the log, said {times} times.", line=one.line, times=one.times)
    known = t("Known from {source}.", source=one.failure.source)
    st.caption(_inert(f"{seen} {known}"))


def _inert(words: str) -> str:
    return MARKDOWN.sub(r"\\\1", words)
