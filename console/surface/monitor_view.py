"""The monitor's parts: choosing a server, its live charts, its past measurements."""

from collections.abc import Sequence

import streamlit as st

from console.bench import runs
from console.serving.instances import Instance
from console.serving.state import State
from console.surface.live_chart import LABELS, live_charts
from console.surface.ui import clock, language, number_in_url, t, words


def chosen(known: Sequence[Instance]) -> Instance:
    """The server in the address line, else one that is ready, and no random noise where there is a choice."""
    by_id = {one.id: one for one in sorted(known, key=lambda one: (one.state != State.ready, one.noise))}
    asked = number_in_url("instance")
    index = list(by_id).index(asked) if asked in by_id else 0

    def go() -> None:
        st.query_params["instance"] = str(st.session_state["monitor-instance"])

    number = st.selectbox(
        t("Server"),
        list(by_id),
        index=index,
        key="monitor-instance",
        on_change=go,
        format_func=lambda one: by_id[one].name,
    )
    return by_id[number]


def charts(one: Instance, minutes: int) -> None:
    """The live panels of one server; they pull their points themselves, so this page does not run again for them."""
    labels = {name: words(text) for name, text in LABELS.items()}
    live_charts(one.id, minutes, labels, key=f"charts-{one.id}-{minutes}", language=language())


def measurements(one: Instance) -> None:
    """What was measured on its host, the latest first."""
    found = [run for run in runs.runs(one.host_id) if run.instance_id == one.id]
    st.subheader(t("Measurements"), anchor=False)
    if not found:
        st.caption(t("Not measured yet. The pilot on Home ends with a measurement."))
        return
    rows = [
        {
            t("when"): clock(run.ended),
            t("model"): run.model,
            t("at a time"): run.concurrency,
            t("requests"): len(run.requests),
            "TTFT p50 (ms)": round(run.ttft_p50_s * 1000),
            "TTFT p95 (ms)": round(run.ttft_p95_s * 1000),
            "TPOT (ms)": None if run.tpot_mean_s is None else round(run.tpot_mean_s * 1000, 1),
            "tokens/s": round(run.tokens_per_s, 1),
        }
        for run in found
    ]
    st.dataframe(rows, hide_index=True, key="runs")
    st.caption(
        t(
            "TTFT: request sent to first token. TPOT: time per output token after the first, the mean of the "
            "requests. tokens/s: output tokens of all requests together per second."
        )
    )
