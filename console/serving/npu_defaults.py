"""A first spec for a server on NPUs: the installed release, free cards, and what the fit calculator allows on them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from console.catalog import parsers
from console.catalog.card_memory import dies
from console.catalog.knowledge import known
from console.catalog.quantizations import scheme
from console.errors import InvalidInput, NotFound
from console.hosts import installed
from console.hosts.inventory import Host
from console.serving import ascend, seats
from console.serving.asked import AUTO, Refusal, ServeSpec
from console.serving.fit import Answer, fit
from console.serving.given import Machine
from console.serving.instances import Instance
from console.serving.purpose import Demand
from console.serving.room import DEFAULT_CONTEXT, Card, Wish, card
from console.serving.seats import Seat
from console.serving.shape import Shape
from console.serving.shelf import shape_on
from console.serving.spec import free_port, name_of
from console.serving.weights import ModelFolder
from console.text import Text, say

A_FEW = Demand(users=4, context=DEFAULT_CONTEXT, most=1 << 20, sequences=16)
"""Of a first server: as many users as the first measurement sends at the same time."""
COUNTS = (1, 2, 4, 8, 16)


def release_on(host: Host, backend: str) -> str:
    """The installed release whose options are known. InvalidInput when nothing complete is known to be installed."""
    found = installed.release(host, backend)
    if found is None:
        raise InvalidInput(
            say("vLLM for NPUs is not known to be installed completely on {host}. Install it first.", host=host.title)
        )
    return parsers.nearest(found)


def first_that_fits(
    host: Host, backend: str, models: Sequence[ModelFolder], now: Machine
) -> tuple[ServeSpec, ModelFolder]:
    """The largest model of these that fits, real weights before random ones. InvalidInput with the first reason."""
    usable = sorted((one for one in models if one.usable), key=lambda one: (one.noise, -one.weight_bytes))
    free = free_seats(host, backend) if usable else []
    reasons: list[Text] = []
    for model in usable:
        try:
            return spec_for(host, backend, model.folder, free, now), model
        except InvalidInput as error:
            reasons.append(error.text)
    raise InvalidInput(reasons[0] if reasons else no_model(host))


def no_model(host: Host) -> Text:
    """What is missing where no folder holds a model that can be served, and where it goes."""
    return say(
        "There is no model on {host} to serve. Put the folder of a model (config.json, weights, tokenizer) below "
        "{folder}, or name its folder on the Models page; then resume this job.",
        host=host.title,
        folder=f"{host.work_folder}/models",
    )


def free_seats(host: Host, backend: str) -> list[Seat]:
    """Chips that a server may have now, by number. InvalidInput with what holds the first when there is none."""
    found = seats.seats(host, backend)
    free = sorted((one for one in found if one.taken is None), key=lambda one: one.number or 0)
    if not free:
        why = next((one.taken for one in found if one.taken is not None), say("npu-smi lists no chip"))
        raise InvalidInput(say("No card of {host} is free: {why}", host=host.title, why=why))
    return free


def spec_for(host: Host, backend: str, folder: str, free: Sequence[Seat], now: Machine) -> ServeSpec:
    """The fewest of the free cards on which the model fits for a few users. InvalidInput: what is missing."""
    release, shape = release_on(host, backend), shape_on(host, folder)
    chosen, answer = fewest(shape, free, release)
    if not answer.fits:
        raise InvalidInput(answer.reason)
    spec = spec_of(answer, shape, chosen, backend, release)
    return replace(
        spec, model_folder=folder, served_name=name_of(folder), port=free_port(now), image=image_on(host, backend)
    )


def fewest(shape: Shape, free: Sequence[Seat], release: str, demand: Demand = A_FEW) -> tuple[Sequence[Seat], Answer]:
    """The fewest of the free cards that meet this demand, and the answer; else the most cards and why they do not."""
    answered: tuple[Sequence[Seat], Answer] | None = None
    for chosen in _choices(free):
        answered = chosen, asked_for(shape, chosen, release, demand)
        if answered[1].fits:
            break
    if answered is None:
        raise InvalidInput(say("No card is free."))
    return answered


def asked_for(shape: Shape, chosen: Sequence[Seat], release: str, demand: Demand) -> Answer:
    """The calculator's answer for these chips, with every setting left to it."""
    one = device(chosen)
    wish = Wish(
        cards=max(1, len(chosen) // dies(one.family)),
        quantization=_stored(shape),
        context=min(demand.context, shape.config.context or demand.context),
        concurrency=demand.users,
        release=release,
        batched_tokens=demand.batched_tokens,
    )
    return fit(shape, one, wish)


def reasons_against(host: Host, spec: ServeSpec, own: Instance | None = None) -> list[Refusal]:
    """What the cards and the fit calculator say against a spec that breaks no rule otherwise."""
    return against(spec, seats.seats(host, spec.backend, own), shape_on(host, spec.model_folder), own)


def against(spec: ServeSpec, found: Sequence[Seat], shape: Shape, own: Instance | None = None) -> list[Refusal]:
    """The same over cards that were looked at, and a folder that was read."""
    taken = seats.refusals(found, spec)
    if taken or (own is not None and seats_held(found, own)):
        return taken
    answer = answer_for(shape, spec, [one for one in found if one.number in spec.device_ids])
    return [] if answer.fits else [Refusal("model_folder", answer.reason)]


def seats_held(found: Sequence[Seat], own: Instance) -> bool:
    """Whether the server itself holds one of its cards now: then what is free of it says nothing."""
    return any(one.number in own.spec.device_ids and one.card.chip.held for one in found)


def answer_for(shape: Shape, spec: ServeSpec, chosen: Sequence[Seat], users: int = 1) -> Answer:
    """The calculator's answer for a spec on these chips, when so many ask at the same moment."""
    one = device(chosen)
    return fit(shape, one, wish_for(shape, spec, len(chosen), one.family, users))


def wish_for(shape: Shape, spec: ServeSpec, chips: int, family: str, users: int = 1) -> Wish:
    """A spec as a question to the calculator."""
    return Wish(
        cards=-(-max(chips, spec.ranks) // dies(family)),
        quantization=_stored(shape),
        context=spec.context or shape.config.context,
        concurrency=users,
        release=spec.release,
        tp=spec.tensor_parallel,
        pp=spec.pipeline_parallel,
        dp=spec.data_parallel,
        ep=spec.expert_parallel,
        utilization=spec.utilization,
        batched_tokens=spec.max_batched_tokens,
        eager=spec.enforce_eager,
    )


def device(chosen: Sequence[Seat]) -> Card:
    """The fullest of these chips. InvalidInput when npu-smi does not say what it is or how much memory it has."""
    devices = []
    for seat in chosen:
        chip = seat.card.chip
        found = known().called(chip.name or "")
        if found is None or chip.hbm_total_bytes is None or chip.hbm_used_bytes is None:
            raise InvalidInput(
                say("{card}: npu-smi does not say which chip it is, or how much memory it has.", card=seat.card.title)
            )
        free = chip.hbm_total_bytes - chip.hbm_used_bytes
        devices.append(card(found, chip.hbm_total_bytes, free, chip.name or ""))
    return min(devices, key=lambda one: one.free)


def _choices(free: Sequence[Seat]) -> Iterator[Sequence[Seat]]:
    """The first whole cards of the free ones: one, two, four and so on."""
    each = dies(device(free[:1]).family)
    whole = [one for one in free if each == 1 or any(other.number == (one.number or 0) ^ 1 for other in free)]
    for count in COUNTS:
        if count * each <= len(whole):
            yield whole[: count * each]


def _stored(shape: Shape) -> str:
    """How the weights are stored, where the calculator knows that way; else it says itself what it does not know."""
    name = shape.stored_scheme or "none"
    try:
        return scheme(name).id
    except NotFound as error:
        raise InvalidInput(error.text) from error


def image_on(host: Host, backend: str) -> str:
    """The image that is installed there; "" where none is, or none is needed."""
    return installed.stack(host, backend) or "" if backend == ascend.DOCKER else ""


def spec_of(answer: Answer, shape: Shape, chosen: Sequence[Seat], backend: str, release: str) -> ServeSpec:
    """The settings of an answer, for a server that has no folder, name and port yet.

    Of the chosen chips it takes as many as the layout has ranks.
    """
    layout, chip = answer.layout, chosen[0].card.chip
    ranks = layout.tp * layout.pp * layout.dp
    paired = ascend.family_of(chip.name or "") == "A3"
    numbers = [one.number for one in chosen if one.number is not None]
    return ServeSpec(
        backend=backend,
        model_folder="",
        served_name="",
        port=0,
        dtype=AUTO,
        tensor_parallel=layout.tp,
        pipeline_parallel=layout.pp,
        data_parallel=layout.dp,
        expert_parallel=layout.ep,
        context=answer.max_context,
        utilization=answer.utilization,
        release=release,
        chip=chip.name or "",
        device_ids=tuple(numbers[: ranks + ranks % 2 if paired else ranks]),
        quantization=scheme(_stored(shape)).flag or "",
    )
