"""The launch form of a host with NPUs: cards and purpose in sight, the verdict beside them, the rest folded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from console.errors import ConsoleError, InvalidInput
from console.serving import npu_defaults
from console.serving.asked import Refusal, ServeSpec
from console.serving.fit import GIB
from console.serving.labels import label
from console.serving.manners import manners
from console.serving.offered import fitting, without_unknown
from console.serving.offering import reasons
from console.serving.purpose import Demand, Purpose, demand_of, round_context
from console.serving.seats import Seat
from console.serving.spec import free_port, name_of
from console.surface import verdict_view
from console.surface.asked_numbers import asked_number, tell
from console.surface.launch_view import Wanted, beginning_mark, finish, shown_refusals, start_button
from console.surface.npu_settings_view import settings
from console.surface.ui import ago, marked, size, t, words
from console.text import say


def npu_form(wanted: Wanted, form: Any, beside: Any) -> None:
    """Draw all of it: `form` holds the first layer, `beside` the verdict."""
    offering, way, model = wanted.offering, wanted.way, wanted.model
    with form:
        demand, purpose = _purpose(wanted)
        seats_ = offering.seats(way.backend)
        try:
            chosen = _cards(wanted, seats_, demand, purpose)
            draft = _draft(wanted, chosen, demand) if chosen else None
        except ConsoleError as error:
            st.error(marked(error.text), icon=":material/block:")
            return
    if draft is None:
        why = say("Choose at least one card.")
        if all(one.taken is not None for one in seats_):
            why = say("No card of {host} is free. Stop a server that has one, or take another host.",
                      host=offering.host.title)  # fmt: skip
        with beside:
            shown_refusals([Refusal("device_ids", why)])
            start_button(wanted, None, [Refusal("device_ids", why)])
        return
    shape = offering.shape(model.folder)
    spec, wrong, said = settings(draft, shape, f"{beginning_mark(wanted)}-{purpose}-{_numbers(chosen)}")
    with form:
        tell(said)
    against = [*wrong, *([] if wrong else reasons(offering, spec, model))]
    with beside:
        answer = verdict_view.verdict(shape, spec, chosen, demand.users, refused=bool(against))
    finish(wanted, spec, against, beside)
    if answer is not None:
        verdict_view.details(offering.host.id, shape, spec, chosen, demand.users, answer)


def _purpose(wanted: Wanted) -> tuple[Demand, str]:
    """What it is for, and how many people ask at the same moment."""
    names = {
        Purpose.FEW: t("A few users"),
        Purpose.MANY: t("Many users"),
        Purpose.LONG: t("Long documents"),
    }
    asked = st.query_params.get("for", "")
    left, right = st.columns([3, 1.1], vertical_alignment="bottom")
    purpose = left.segmented_control(
        t("What it is for"), list(names), default=Purpose(asked) if asked in names else Purpose.FEW,
        key=f"launch-for-{asked}", format_func=names.__getitem__, required=True,
        help=t("It decides context, requests at the same time and tokens in one step; all of them can be changed."),
    )  # fmt: skip
    demand = demand_of(str(purpose))
    users = asked_number("users", say("Users at a time"), 1, 4096, demand.users)
    count = right.number_input(t("Users at a time"), 1, 4096, users, key=f"launch-users-{purpose}-{users}")
    return replace(demand, users=int(count)), str(purpose)


def _cards(wanted: Wanted, found: Sequence[Seat], demand: Demand, purpose: str) -> list[Seat]:
    """One line a card, with who holds it; a held one cannot be chosen."""
    offering = wanted.offering
    if not found:
        why = offering.no_cards or say("npu-smi lists no chip")
        raise InvalidInput(say("No card of {host} can be used: {why}", host=offering.host.title, why=why))
    mark = f"{beginning_mark(wanted)}-{purpose}-{demand.users}"
    first = _first(wanted, found, demand)
    kinds = " · ".join(sorted({seat.card.chip.name or "?" for seat in found}))
    st.caption(t("Cards ({kinds}), as of {age}", kinds=kinds, age=ago(offering.time)))
    chosen = []
    with st.container(key="launch-cards", gap="xsmall"):
        count = 2 if len(found) > 4 else 1
        columns = [column.container(gap="xsmall") for column in st.columns(count)]
        for place, seat in enumerate(found):
            held = seat.taken is not None
            if columns[place % count].checkbox(
                _line(seat, alike="·" not in kinds),
                seat.number in first and not held,
                key=f"card-{place}-{mark}",
                disabled=held,
            ):
                chosen.append(seat)
    return chosen


def _line(seat: Seat, *, alike: bool) -> str:
    """The chip is named where not all are of one kind."""
    chip = seat.card.chip
    if seat.taken is not None:
        return marked(seat.taken)
    total, used = chip.hbm_total_bytes, chip.hbm_used_bytes
    free = t("how much is free is not known")
    if total is not None and used is not None:
        gib = f"{(total - used) / GIB:.1f}"
        free = t("{free} of {total} free", free=gib, total=size(total))
    parts = [seat.card.title, *([] if alike else [chip.name or "?"]), free]
    return " · ".join(parts)


def _first(wanted: Wanted, found: Sequence[Seat], demand: Demand) -> Sequence[int | None]:
    """The cards an address or a paste names, else the fewest free ones on which the model does what it is for."""
    free = [one for one in found if one.taken is None]
    named = wanted.stated.get("device_ids") or ()
    to_have = [one.number for one in free if one.number in named]
    if gone := [str(one) for one in named if one not in to_have]:
        told = say("Cards that were asked for and are not to be had: {numbers}.", numbers=", ".join(gone))
        st.warning(marked(told), icon=":material/search_off:")
    if to_have:
        return to_have
    if not free:
        return ()
    shape = wanted.offering.shape(wanted.model.folder)
    chosen, answer = npu_defaults.fewest(shape, free, wanted.way.release, demand)
    layout = answer.layout
    ranks = layout.tp * layout.pp * layout.dp
    return [one.number for one in (chosen[:ranks] if answer.fits and len(chosen) > ranks else chosen)]


def _numbers(chosen: Sequence[Seat]) -> str:
    return "-".join(str(one.number) for one in chosen)


def _draft(wanted: Wanted, chosen: Sequence[Seat], demand: Demand) -> ServeSpec:
    """Good settings for this purpose on these cards, then what an address or a paste says."""
    offering, way, model = wanted.offering, wanted.way, wanted.model
    shape = offering.shape(model.folder)
    answer = npu_defaults.asked_for(shape, chosen, way.release, demand)
    spec = npu_defaults.spec_of(answer, shape, chosen, way.backend, way.release)
    most = model.max_context or demand.most
    given, foreign = fitting(wanted.stated, way.backend)
    stated: Mapping[str, Any] = {
        "context": round_context(min(answer.max_context or demand.context, demand.most, most)),
        "max_num_seqs": demand.sequences,
        "max_batched_tokens": demand.batched_tokens,
        "image": npu_defaults.image_on(offering.host, way.backend),
        **manners(model.folder, way.release),
        **given,
        "device_ids": tuple(one.number for one in chosen if one.number is not None),
    }
    spec = replace(
        spec, **{"model_folder": model.folder, "served_name": name_of(model.folder),
                 "port": free_port(offering.machine), **stated}
    )  # fmt: skip
    known, unknown = without_unknown(spec)
    if gone := (*foreign, *unknown):
        told = say(
            "Left out, because vllm-ascend {release} in this way does not take it: {names}.",
            release=way.release,
            names=", ".join(words(label(name)) for name in gone),
        )
        st.warning(marked(told))
    return known
