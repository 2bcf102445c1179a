"""The question whether a model fits: model, cards, quantization, context and users, from the address or by hand."""

from dataclasses import dataclass, replace

import streamlit as st

from console.catalog.knowledge import known
from console.catalog.models import Model, models
from console.catalog.quantizations import NEWEST, scheme, schemes
from console.errors import ConsoleError
from console.hosts import inventory
from console.hosts.cards import cards
from console.serving import launch
from console.serving.ask_fit import card_named, npu_name, subject
from console.serving.fit import GIB
from console.serving.room import DEFAULT_CONTEXT, Card, Wish
from console.serving.shape import Shape
from console.serving.shelf import shape_on
from console.surface.asked_numbers import asked_number
from console.surface.models_view import models_of
from console.surface.ui import language, marked, number_in_url, size, t, warn_unknown, words
from console.text import say

FIRST_MODEL, FIRST_CHIP = "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", "910B4"
TO_HEAR_WHY_NOT = ("fp8", "awq", "gptq")
ADDRESS = ("host", "model", "chip", "cards", "quantization", "context", "users")
"""What the address line may say. It is a beginning: whatever is chosen afterwards counts."""


@dataclass(frozen=True)
class Offer:
    """Cards of one kind that a host showed. Bytes of the fullest one; count = how many there are."""

    label: str
    chip: str
    count: int
    total: int
    free: int
    host_id: int


def offers() -> list[Offer]:
    """The cards of all hosts, host by host and chip by chip."""
    kinds: dict[tuple[int, str, str, int], list[int]] = {}
    for one in cards(inventory.hosts())[0]:
        chip = one.chip
        if chip.name and known().chip(chip.name) and chip.hbm_total_bytes and chip.hbm_used_bytes is not None:
            key = (one.host.id, words(one.host.title), chip.name, chip.hbm_total_bytes)
            kinds.setdefault(key, []).append(chip.hbm_total_bytes - chip.hbm_used_bytes)
    return [
        Offer(
            t("{host}: {count} × {chip}, {free} of {total} free", host=host, count=len(free), chip=chip,
              free=size(min(free)), total=size(total)),
            chip, len(free), total, min(free), host_id,
        )
        for (host_id, host, chip, total), free in kinds.items()
    ]  # fmt: skip


def _key(name: str) -> str:
    """Another address is another beginning, so its widgets do not keep what was chosen before."""
    return f"fit-{name}-" + "|".join(st.query_params.get(one, "") for one in ADDRESS)


def asked_host() -> inventory.Host | None:
    """The host in the address line, if there is one beside this machine."""
    asked, hosts = number_in_url("host"), inventory.hosts()
    warn_unknown("host", [str(one.id) for one in hosts], say("a host"))
    return next((one for one in hosts if one.id == asked), None)


def chosen_model(host: inventory.Host | None) -> str:
    """A name of the catalog, or a folder of this machine or of the host that is asked about."""
    there = [] if host is None else (models_of(host) or [])
    folders = [one.folder for one in [*launch.models_on(inventory.this_machine()), *there] if one.usable]
    names = list(dict.fromkeys([*(one.id for one in models()), *folders]))
    warn_unknown("model", names, say("a model"))
    asked = st.query_params.get("model", "")
    first = asked if asked in names else FIRST_MODEL
    return st.selectbox(
        t("Model"),
        names,
        index=names.index(first),
        key=_key("model"),
        format_func=lambda one: one.rsplit("/", 1)[-1],
        help=t("Models of the catalog, then the folders on this machine and on the host that is asked about."),
    )


def chosen_card() -> tuple[Card, int, int | None]:
    """The card, how many of them, and the host that showed them, if they are of one."""
    seen = offers()
    left, right = st.columns([3, 1])
    labels = [one.label for one in seen]
    other = t("Other cards, by their chip")
    of_host = next((place for place, one in enumerate(seen) if one.host_id == number_in_url("host")), 0)
    named = len(labels) if "chip" in st.query_params else of_host
    picked = left.selectbox(t("Cards"), [*labels, other], index=named, key=_key("cards"))
    if picked in labels:
        offer = seen[labels.index(picked)]
        first = asked_number("cards", say("Cards"), 1, offer.count, offer.count)
        count = right.number_input(t("How many"), 1, offer.count, first, key=_key(f"count-{picked}"))
        return card_named(offer.chip, offer.total / GIB, offer.free / GIB), count, offer.host_id
    names, asked = _chips()
    chip = left.selectbox(t("Chip"), names, index=names.index(asked), key=_key("chip"))
    count = right.number_input(t("How many"), 1, 64, asked_number("cards", say("Cards"), 1, 64, 2), key=_key("count"))
    if (found := known().chip(chip)) is not None and found.hbm_mb is not None:
        return card_named(chip), count, None
    total = left.number_input(t("Memory of one card in GiB, as npu-smi shows it"), 1.0, 1024.0, 43.0, key=_key("total"))
    return card_named(chip, total), count, None


def _chips() -> tuple[list[str], str]:
    """Names of chips, and the one the address asks for; one that is not supported is there to hear why not."""
    names = [name for one in known().chips if one.supported for name in one.names]
    asked = st.query_params.get("chip", "")
    found = known().called(asked) if asked else None
    if found is None:
        warn_unknown("chip", names, say("a chip"))
        return names, FIRST_CHIP
    name = npu_name(found, asked)
    return list(dict.fromkeys([*names, name])), name


def chosen_wish(shape: Shape, named: str | None, cards_: int) -> Wish:
    """Quantization, context and users in sight; the rest folded."""
    names = [one.id for one in schemes() if shape.is_moe or not one.moe_only]
    names += [name for name in TO_HEAR_WHY_NOT if name not in names]
    asked = _asked_scheme() or named or "none"
    names += [asked] if asked not in names else []
    columns = st.columns(3)
    quantization = columns[0].selectbox(
        t("Quantization"), names, index=names.index(asked), key=_key("quantization"),
        format_func=lambda one: scheme(one).title[language()],
    )  # fmt: skip
    most = shape.config.context or 1 << 20
    first = asked_number("context", say("Context in tokens"), 1, 4 * most, min(most, DEFAULT_CONTEXT))
    context = columns[1].number_input(
        t("Context in tokens"),
        1,
        4 * most,
        first,
        step=1024,
        key=_key(f"context-{shape.name}"),
        help=t("Prompt and answer of one user together."),
    )
    users = columns[2].number_input(
        t("Users at the same time"),
        1,
        4096,
        asked_number("users", say("Users at the same time"), 1, 4096, 4),
        key=_key("users"),
    )
    wish = Wish(cards_, quantization, int(context), int(users))
    with st.expander(t("More settings"), key="fit-more"):
        return _more(wish)


def _more(wish: Wish) -> Wish:
    first, second, third, fourth = st.columns(4)
    release = first.selectbox(t("Release of vLLM-Ascend"), _releases(), key=_key("release"))
    tp = second.number_input(t("Tensor parallel"), 0, 64, 0, key=_key("tp"), help=t("0 = the best one"))
    pp = third.number_input(t("Pipeline parallel"), 0, 64, 0, key=_key("pp"), help=t("0 = the best one"))
    share = fourth.number_input(
        t("Share of the memory"), 0.0, 1.0, 0.0, step=0.01, key=_key("share"),
        help=t("--gpu-memory-utilization; 0 = the default of the release, as far as the card starts with it"),
    )  # fmt: skip
    eager = st.checkbox(t("Without captured graphs (eager)"), key=_key("eager"))
    return replace(wish, release=release, tp=int(tp), pp=int(pp), utilization=share or None, eager=eager)


def _releases() -> list[str]:
    named = [one.vllm_ascend for one in known().rows]
    return [NEWEST, *(one for one in reversed(named) if one != NEWEST)]


def _asked_scheme() -> str:
    """The quantization that the address names; "" and a sentence where there is none of that name."""
    asked = st.query_params.get("quantization", "")
    try:
        return scheme(asked).id if asked else ""
    except ConsoleError as error:
        st.warning(marked(error.text), icon=":material/search_off:")
        return ""


def asked_about(host: inventory.Host | None, name: str) -> tuple[Shape, Model | None, str | None] | None:
    """The model; None, and a sentence on the page, when its folder cannot be read."""
    try:
        if host is not None and name.startswith("/") and name == st.query_params.get("model"):
            shape = shape_on(host, name)
            return shape, None, shape.stored_scheme
        return subject(name)
    except ConsoleError as error:
        st.error(marked(error.text))
        return None
