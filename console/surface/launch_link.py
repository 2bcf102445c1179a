"""From an answer of the fit calculator to the launch form, filled as the answer says."""

import streamlit as st

from console.serving.fit import Answer
from console.serving.room import Wish
from console.surface.ui import t


def launch_link(model: str, host_id: int | None, wish: Wish, answer: Answer) -> None:
    """To the form of the host that showed the cards, else of the one that is chosen there."""
    layout = answer.layout
    st.page_link(
        "launch.py",
        label=t("Launch this"),
        icon=":material/rocket_launch:",
        query_params={
            **({} if host_id is None else {"host": str(host_id)}),
            "model": model,
            "users": str(wish.concurrency),
            "context": str(wish.context),
            "tensor-parallel": str(layout.tp),
            "pipeline-parallel": str(layout.pp),
            "data-parallel": str(layout.dp),
            "expert-parallel": str(layout.ep).lower(),
            **({"enforce-eager": "true"} if wish.eager else {}),
            **({} if wish.utilization is None else {"utilization": str(wish.utilization)}),
        },
    )
