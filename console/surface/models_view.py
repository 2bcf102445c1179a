"""How one model folder looks."""

import streamlit as st

from console.errors import ConsoleError
from console.hosts import inventory
from console.serving import launch
from console.serving.weights import ModelFolder
from console.surface.ui import attempt, mark, marked, size, t


def models_of(host: inventory.Host) -> list[ModelFolder] | None:
    """The models on a host; None, and the reason on the page, when it cannot be asked."""
    try:
        return launch.models_on(host)
    except ConsoleError as error:
        st.error(marked(error.text), icon=":material/link_off:")
        return None


def model_row(host: inventory.Host, model: ModelFolder) -> None:
    """Name, size, what is wrong with it, and the way to launch it."""
    bad = any(problem.is_error for problem in model.problems)
    with st.container(border=True, key=f"model-{model.name}"):
        head = st.columns([5, 2, 3], vertical_alignment="center")
        head[0].markdown(
            f"**{model.name}**" + (f" · :orange[{t('random weights: its words are noise')}]" if model.noise else "")
        )
        level = "fail" if bad else "warn" if model.problems else "pass"
        head[1].markdown(mark(level))
        if not bad:
            meant = {"host": str(host.id), "model": model.folder}
            with head[2].container(horizontal=True):
                st.page_link("fit.py", label=t("Fit"), query_params=meant, icon=":material/straighten:")
                st.page_link("launch.py", label=t("Launch"), query_params=meant, icon=":material/rocket_launch:")
        st.caption(model.folder)
        if not bad:
            st.markdown(summary(model))
        for problem in model.problems:
            (st.error if problem.is_error else st.warning)(marked(problem.text))
        if not model.folder.startswith(f"{host.work_folder}/models/"):
            st.button(
                t("Take it off the list"),
                key=f"forget-{model.folder}",
                on_click=attempt,
                args=(launch.forget_model, host, model.folder),
                help=t("Nothing on the disk is touched."),
            )


def summary(model: ModelFolder) -> str:
    """Its most telling figures in one line."""
    return t(
        "{architecture} · {parameters} M parameters · {size} of weights · context up to {context} · {heads} heads",
        architecture=model.architecture,
        parameters=f"{model.parameters / 1e6:,.0f}",
        size=size(model.weight_bytes),
        context=str(model.max_context),
        heads=model.heads,
    )
