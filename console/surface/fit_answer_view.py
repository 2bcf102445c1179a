"""The answer whether a model fits: verdict, one card's memory, every combination, recipes, what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from console.catalog.quantizations import scheme
from console.catalog.recipes import Recipe, recipes_for
from console.hosts import inventory
from console.serving import launch
from console.serving.ask_fit import recipe_answer
from console.serving.fit import GIB, Answer, Row, table
from console.serving.lessons import Lesson, lessons
from console.serving.room import Card, Wish
from console.serving.shape import Shape
from console.surface.calm_table import MISSING, Cell, Head, Notes, calm_table
from console.surface.ui import ago, language, marked, t, words

COLOURS = {"weights": "#0b5cad", "kv": "#2f9e8f", "reserve": "#8a7fb0", "free": "transparent", "other": "#8a949e"}
LINE, BAD = "rgba(128,140,152,.6)", "#d1382c"


def verdict(answer: Answer) -> None:
    """In words, then the three figures people ask for."""
    (st.success if answer.fits else st.error)(
        marked(answer.reason), icon=":material/check_circle:" if answer.fits else ":material/block:"
    )
    columns = st.columns(3)
    context = t("{count} tokens", count=f"{answer.max_context:,}") if answer.max_context else MISSING
    columns[0].metric(t("Largest context for this many users"), context)
    users = f"{answer.max_concurrency:,}" if answer.max_concurrency else MISSING
    columns[1].metric(t("Most users with this context"), users)
    layout = answer.layout
    columns[2].metric(t("Tensor × pipeline × data parallel"), f"{layout.tp} × {layout.pp} × {layout.dp}")


def known_how(kind: str, *, simulated: bool) -> str:
    """How a figure is known; what a simulated card shows was measured nowhere."""
    measured = t("simulated") if simulated else t("measured here")
    return {"documented": t("documented"), "computed": t("computed"), "measured": measured}[kind]


def memory(answer: Answer, host_id: int | None) -> None:
    """One card's memory as a bar, and the same as figures with how each is known. host_id: whose card was seen."""
    simulated = host_id is not None and inventory.host(host_id).scenario is not None
    room = answer.room
    names = {
        "weights": t("weights"),
        "kv": t("cache (KV)"),
        "reserve": t("reserve: activation, communication, graphs, runtime"),
        "free": t("free") if room.free >= 0 else t("missing"),
    }
    st.subheader(t("One card"), anchor=False)
    st.html(bar(answer, {**names, "usable": t("vLLM may use"), "other": t("not for vLLM")}))
    figures = {"total": t("total"), "usable": t("vLLM may use"), **names}
    heads = [Head(t("Figure")), Head(t("GiB"), right=True), Head(t("Known how")), Head(t("From"), text=True)]
    rows = [
        [
            Cell(name),
            Cell(f"{getattr(room, key) / GIB:.2f}", "bad" if getattr(room, key) < 0 else ""),
            Cell(known_how(answer.basis[key].kind, simulated=simulated)),
            Cell(answer.basis[key].source(language()), "quiet"),
        ]
        for key, name in figures.items()
    ]
    calm_table("fit-figures", heads, rows)


def bar(answer: Answer, names: Mapping[str, str]) -> str:
    """A stacked bar with a dashed mark where the share of vLLM ends; what does not fit reaches beyond it."""
    room = answer.room
    parts = {"weights": room.weights, "kv": room.kv, "reserve": room.reserve}
    if room.free >= 0:
        parts |= {"free": room.free, "other": room.total - room.usable}
    whole = max(1, sum(parts.values()))
    blocks = "".join(
        f'<div style="width:{100 * size_ / whole:.2f}%;background:{COLOURS[key]};height:1.6rem;'
        f'border-right:1px solid {LINE};box-sizing:border-box"></div>'
        for key, size_ in parts.items()
    )
    legend = [_entry(f"background:{COLOURS[key]}", names[key], size_) for key, size_ in parts.items()]
    legend.append(_entry(f"width:0;border:0;border-left:2px dashed {BAD}", names["usable"], room.usable))
    if room.free < 0:
        legend.append(f'<b style="color:{BAD}">{escape(names["free"])} {-room.free / GIB:.1f} GiB</b>')
    mark = f"{100 * min(1.0, room.usable / whole):.2f}"
    return (
        f'<div style="position:relative;border:1px solid {LINE};display:flex;overflow:hidden">{blocks}'
        f'<div style="position:absolute;left:{mark}%;top:0;bottom:0;border-left:2px dashed {BAD}"></div></div>'
        f'<div style="font-size:.82rem;margin-top:.35rem">{" ".join(legend)}</div>'
    )


def _entry(style: str, name: str, size_: int) -> str:
    square = f"display:inline-block;width:.7rem;height:.7rem;border:1px solid {LINE};margin-right:.3rem;{style}"
    words_ = f"{escape(name)} {size_ / GIB:.1f} GiB"
    return f'<span style="white-space:nowrap;margin-right:1rem"><span style="{square}"></span>{words_}</span>'


def combinations(shape: Shape, one: Card, wish: Wish) -> None:
    """Cards x quantization, a column for each context: how many users, or what is missing."""
    rows = table(shape, one, wish)
    contexts = sorted({row.context for row in rows})
    notes = Notes()
    heads = [
        Head(t("Cards"), right=True),
        Head(t("Quantization")),
        *(Head(f"{each:,}", right=True) for each in contexts),
    ]
    by_line: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        by_line.setdefault((row.cards, row.quantization), []).append(row)
    lines = [
        [Cell(str(cards_)), Cell(name), *(_combination(row, notes) for row in line)]
        for (cards_, name), line in by_line.items()
    ]
    st.caption(
        t(
            "Columns are contexts in tokens. ● with how many users of this context fit; ■ with what one card lacks for "
            "{users} users, or the number of the reason below.",
            users=wish.concurrency,
        )
    )
    calm_table("fit-combinations", heads, lines, notes)


def _combination(row: Row, notes: Notes) -> Cell:
    answer = row.answer
    if answer.fits:
        return Cell(f"● {answer.max_concurrency:,}")
    if answer.breaches or not answer.room.usable:
        return replace(notes.missing(words(answer.reason)), words="■", tone="bad")
    return Cell(f"■ −{-answer.room.free / GIB:.1f} GiB", "bad")


def recipe_list(one: Card) -> None:
    """What can be taken as it is, for cards of this size, else for all."""
    found = recipes_for(one.total // 2**20) or recipes_for(None)
    for recipe in found:
        _recipe(recipe)


def _recipe(recipe: Recipe) -> None:
    answer = recipe_answer(recipe)
    with st.container(border=True, key=f"recipe-{recipe.id}"):
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.markdown(f"**{recipe.title[language()]}** · {recipe.model.rsplit('/', 1)[-1]}")
        right.page_link(
            "fit.py",
            label=t("Take these"),
            icon=":material/input:",
            query_params={
                "model": recipe.model,
                "chip": recipe.chip,
                "cards": str(recipe.cards),
                "quantization": recipe.quantization,
                "context": str(recipe.context),
                "users": str(recipe.concurrency),
            },
        )
        st.caption(
            t(
                "{cards} cards of {gib} GiB, {quantization}, {users} users with {context} tokens each",
                cards=recipe.cards,
                gib=recipe.hbm_gib,
                quantization=scheme(recipe.quantization).title[language()],
                users=recipe.concurrency,
                context=recipe.context,
            )
        )
        st.write(f"{recipe.expect[language()]} {words(answer.reason)}")


def measured_here(found: Sequence[Lesson]) -> None:
    """What instances here counted, beside the sum."""
    heads = [
        Head(t("Instance")),
        Head(t("cache by the sum (tokens)"), right=True),
        Head(t("cache measured (tokens)"), right=True),
        Head(t("error of the sum"), right=True),
        Head(t("started"), right=True),
    ]
    notes = Notes()
    no_sum = t("The sum for this kind of instance, or its model, is not at hand.")
    rows = []
    for one in found:
        apart = one.difference
        rows.append(
            [
                Cell(one.instance.name),
                Cell(f"{apart.estimated:,.0f}") if apart else notes.missing(no_sum),
                Cell(f"{one.seen.kv_tokens:,}") if one.seen.kv_tokens else notes.missing(t("Its log does not say.")),
                Cell(f"{100 * apart.error:+.1f} %") if apart else notes.missing(no_sum),
                Cell(ago(one.time), "quiet"),
            ]
        )
    calm_table("fit-measured", heads, rows, notes)
    other_figures([one for one in found if one.others])


def other_figures(found: Sequence[Lesson]) -> None:
    """The memory of one card of the same servers, figure by figure; folded, as the cache is what decides."""
    if not found:
        return
    names = {
        "weights": t("weights"),
        "kv_bytes": t("cache (KV)"),
        "reserve": t("reserve: activation, communication, graphs, runtime"),
        "total": t("total"),
    }
    heads = [
        Head(t("Instance")),
        Head(t("Figure")),
        Head(t("by the sum (GiB)"), right=True),
        Head(t("measured (GiB)"), right=True),
        Head(t("error of the sum"), right=True),
    ]
    rows = [
        [
            Cell(one.instance.name),
            Cell(names[apart.figure]),
            Cell(f"{apart.estimated / GIB:.2f}"),
            Cell(f"{apart.measured / GIB:.2f}"),
            Cell(f"{100 * apart.error:+.1f} %") if apart.measured else Cell(MISSING, "quiet"),
        ]
        for one in found
        for apart in one.others
        if apart.figure in names
    ]
    with st.expander(t("One card of the same servers: weights, cache and reserve"), key="fit-measured-others"):
        calm_table("fit-measured-figures", heads, rows)


def lessons_here() -> list[Lesson]:
    """What the instances of this machine measured."""
    return lessons({one.folder: one for one in launch.models_on(inventory.this_machine())})
