"""From an answer of the fit calculator to the launch form, filled as the answer says."""

import streamlit as st

from console.catalog.models import Model
from console.catalog.quantizations import scheme
from console.serving.fit import Answer
from console.serving.room import Wish
from console.surface.ui import t


def launch_link(model: str, known: Model | None, host_id: int | None, wish: Wish, answer: Answer) -> None:
    """To the form of the host that showed the cards, else of the one that is chosen there.

    known: the model in the catalog, None for a folder. Nothing where nobody publishes weights of this kind: the remarks
    tell how they are made.
    """
    layout, how = answer.layout, scheme(wish.quantization)
    weights = model if known is None else known.id if how.id == known.native else known.repo(how.id)
    if weights is None:
        return
    flag = {"quantization": how.flag} if known is not None and how.flag else {}
    st.page_link(
        "launch.py",
        label=t("Launch this"),
        icon=":material/rocket_launch:",
        query_params={
            **({} if host_id is None else {"host": str(host_id)}),
            "model": weights,
            **flag,
            "users": str(wish.concurrency),
            "context": str(wish.context),
            "tensor-parallel": str(layout.tp),
            "pipeline-parallel": str(layout.pp),
            "data-parallel": str(layout.dp),
            "expert-parallel": str(layout.ep).lower(),
            **({"enforce-eager": "true"} if wish.eager else {}),
            "utilization": f"{min(answer.utilization, answer.highest):.2f}",
        },
    )
