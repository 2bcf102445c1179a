"""Whether a server fits, beside the form that asks for it: in words, three figures, and the whole sum on demand."""

from collections.abc import Sequence

import streamlit as st

from console.catalog.card_memory import dies
from console.errors import ConsoleError
from console.serving import instances, npu_defaults
from console.serving.asked import ServeSpec
from console.serving.fit import GIB, Answer
from console.serving.lessons import lessons
from console.serving.remarks import remarks
from console.serving.seats import Seat
from console.serving.shape import Shape
from console.surface.calm_table import Cell, Head, calm_table
from console.surface.fit_answer_view import known_how, measured_here, memory
from console.surface.ui import marked, t


def verdict(shape: Shape, spec: ServeSpec, chosen: Sequence[Seat], users: int, *, refused: bool) -> Answer | None:
    """The answer for these users; None, and why, when it cannot be computed.

    It may start and still be too small for all of them: then they wait for each other, which is said. What is refused
    stands with its reasons beside it, so it is not said twice.
    """
    try:
        answer = npu_defaults.answer_for(shape, spec, chosen, users)
        if refused and not answer.fits:  # the reason beside it is that of a single user
            users, answer = 1, npu_defaults.answer_for(shape, spec, chosen)
    except ConsoleError as error:
        st.error(marked(error.text), icon=":material/block:")
        return None
    if answer.fits:
        st.success(marked(answer.reason), icon=":material/check_circle:")
    elif not refused:
        told = t("It starts, but this many users wait for each other.")
        st.warning(f"{told} {marked(answer.reason)}", icon=":material/hourglass:")
    if not answer.breaches:
        _figures(answer, spec, users)
    return answer


def _figures(answer: Answer, spec: ServeSpec, users: int) -> None:
    free = answer.room.free
    rows = [
        (
            "max_context",
            t("Largest context, for users at a time: {users}", users=users),
            t("{count} tokens", count=f"{answer.max_context:,}"),
        ),
        (
            "max_concurrency",
            t("Most users with {context} tokens each", context=f"{spec.context or 0:,}"),
            f"{answer.max_concurrency:,}",
        ),
        ("free", t("Free on each card") if free >= 0 else t("Missing on each card"), f"{abs(free) / GIB:.1f} GiB"),
    ]
    heads = [Head(t("Figure"), text=True), Head(t("Value"), right=True), Head(t("Known how"))]
    calm_table(
        "launch-figures",
        heads,
        [
            [
                Cell(name),
                Cell(value, "bad" if key == "free" and free < 0 else ""),
                Cell(known_how(answer.basis[key].kind, simulated=False)),
            ]
            for key, name, value in rows
        ],
    )


def _measured(host_id: int, folder: str) -> None:
    """What servers of this model counted on this host, beside the sum for them."""
    own = [one.id for one in instances.instances() if (one.host_id, one.spec.model_folder) == (host_id, folder)]
    found = [one for one in lessons({}) if one.instance.id in own] if own else []
    if found:
        st.caption(t("What servers with this model measured on this host, beside the sum for each:"))
        measured_here(found)


def details(host_id: int, shape: Shape, spec: ServeSpec, chosen: Sequence[Seat], users: int, answer: Answer) -> None:
    """What one card holds, with the source of each figure, and what else to know."""
    with st.expander(t("What one card holds, and how each figure is known"), key="launch-memory"):
        memory(answer, host_id)
        one = npu_defaults.device(chosen)
        wish = npu_defaults.wish_for(shape, spec, len(chosen), one.family, users)
        for said in remarks(shape, None, one, wish, answer):
            st.markdown(f"- {marked(said)}")
        if spec.ranks < len(chosen):
            st.markdown(
                "- "
                + t("{cards} cards are chosen, and {ranks} of them work: tensor × pipeline × data parallel is {ranks}.",
                    cards=len(chosen), ranks=spec.ranks)
            )  # fmt: skip
        _measured(host_id, spec.model_folder)
        st.page_link(
            "fit.py",
            label=t("Try other cards and other models"),
            icon=":material/straighten:",
            query_params={"chip": spec.chip, "cards": str(max(1, len(chosen) // dies(one.family))),
                          "context": str(spec.context or 8192), "users": str(users)},
        )  # fmt: skip
