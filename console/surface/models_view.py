"""How one model folder looks, and the table of all models that hosts showed."""

import streamlit as st

from console.errors import ConsoleError
from console.hosts import inventory
from console.serving import launch, survey
from console.serving.placed import place_on
from console.serving.problems import Problem
from console.serving.traps import Place, problems_at
from console.serving.weights import ModelFolder
from console.surface.calm_table import Cell, Head, calm_table
from console.surface.ui import ago, attempt, mark, marked, size, t, who, words


def models_of(host: inventory.Host) -> list[ModelFolder] | None:
    """The models on a host; None, and the reason on the page, when it cannot be asked."""
    try:
        return launch.models_on(host)
    except ConsoleError as error:
        st.error(marked(error.text), icon=":material/link_off:")
        return None


def all_models() -> None:
    """Hosts x models, by what each host showed when it was searched last; nothing when none was."""
    rows = []
    for host in inventory.hosts():
        seen = survey.last(host)
        if seen is None:
            continue
        place = place_on(host)
        rows += [_row(host, model, problems_at(model, place), seen.time) for model in seen.models]
    if not rows:
        return
    st.subheader(t("On all hosts"), anchor=False)
    heads = [Head(t("Host")), Head(t("Model")), Head(t("Weights"), right=True), Head(t("Parameters"), right=True),
             Head(t("Stored as")), Head(t("State")), Head(t("What was found"), text=True), Head(t("Seen"))]  # fmt: skip
    calm_table("all-models", heads, rows)


def _row(host: inventory.Host, model: ModelFolder, problems: list[Problem], seen: float) -> list[Cell]:
    bad = [one for one in problems if one.is_error]
    shape = "■" if bad else "▲" if problems else "●"
    tone, word = (
        ("bad", t("cannot be served")) if bad else ("warn", t("with remarks")) if problems else ("", t("whole"))
    )
    first = next(iter([*bad, *problems]), None)
    more = f" (+{len(problems) - 1})" if len(problems) > 1 else ""
    return [
        Cell(words(host.title)),
        Cell(model.name, whole=model.folder),
        Cell(size(model.weight_bytes)),
        Cell(parameters(model)),
        Cell(stored(model)),
        Cell(f"{shape} {word}", tone),
        Cell((words(first.seen) + more) if first else t("nothing"), "" if first else "quiet"),
        Cell(ago(seen), "quiet"),
    ]


def model_row(host: inventory.Host, model: ModelFolder, place: Place, *, listed: bool = True) -> None:
    """Name, size, what is wrong with it at this place, and the ways on. `listed`: whether launches offer it."""
    problems = problems_at(model, place)
    bad = any(problem.is_error for problem in problems)
    with st.container(border=True, key=f"model-{model.folder}"):
        head = st.columns([5, 2, 3], vertical_alignment="center")
        name = marked(model.name) if model.name.isascii() else model.name
        noise = f" · :orange[{t('random weights: its words are noise')}]" if model.noise else ""
        head[0].markdown(f"**{name}**{noise}")
        head[1].markdown(mark("fail" if bad else "warn" if problems else "pass"))
        if not bad and listed:
            _ways_on(head[2], host, model)
        st.caption(model.folder)
        if model.architecture:
            st.markdown(summary(model))
        for problem in problems:
            (st.error if problem.is_error else st.warning)(marked(problem.text))
        _list_button(host, model, listed=listed, usable=model.usable)


def _ways_on(place: "st.delta_generator.DeltaGenerator", host: inventory.Host, model: ModelFolder) -> None:
    address = {"host": str(host.id), "model": model.folder}
    with place.container(horizontal=True):
        st.page_link("launch.py", label=t("Launch"), query_params=address, icon=":material/rocket_launch:")
        st.page_link("fit.py", label=t("Fit"), query_params=address, icon=":material/straighten:")


def _list_button(host: inventory.Host, model: ModelFolder, *, listed: bool, usable: bool) -> None:
    if not listed:
        st.button(
            t("Add it to the list"),
            key=f"add-{model.folder}",
            on_click=attempt,
            args=(launch.add_model, host, model.folder),
            kwargs={"actor": who()},
            disabled=not usable,
            help=t("Then it can be launched.") if usable else t("What is wrong with it comes first."),
        )
    elif not model.folder.startswith(f"{host.work_folder}/models/"):
        st.button(
            t("Take it off the list"),
            key=f"forget-{model.folder}",
            on_click=attempt,
            args=(launch.forget_model, host, model.folder),
            help=t("Nothing on the disk is touched."),
        )


def parameters(model: ModelFolder) -> str:
    """How many numbers the weights hold, counted in their headers."""
    if not model.parameters:
        return "–"
    return f"{model.parameters / 1e9:,.2f} B" if model.parameters >= 1e9 else f"{model.parameters / 1e6:,.1f} M"


def stored(model: ModelFolder) -> str:
    """The formats of the headers, the most frequent first, and the quantization that config.json or its tool names."""
    kinds = " + ".join(sorted(model.types, key=lambda one: -model.types[one])[:3])
    return " · ".join(one for one in (kinds, model.quantization or "") if one) or "–"


def summary(model: ModelFolder) -> str:
    """Its most telling figures in one line."""
    return t(
        "{architecture} · {parameters} parameters · {size} of weights in {stored} · context up to {context} tokens · "
        "{heads} heads",
        architecture=model.architecture,
        parameters=parameters(model),
        size=size(model.weight_bytes),
        stored=stored(model),
        context=f"{model.max_context:,}",
        heads=model.heads,
    )
