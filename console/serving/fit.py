"""Will a model fit on these cards, by how much, and what would: one answer, and a table of them.

Each figure says how it is known: documented, computed, or measured on a host.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from console.catalog.card_memory import assumed, dies, node_devices
from console.catalog.flags import Said, told
from console.catalog.quantizations import Scheme, scheme, schemes
from console.serving.layout import Layout, candidates, has_stored
from console.serving.reserve import Reserve
from console.serving.room import Card, Room, Sum, Wish, highest_utilization, utilization_of
from console.serving.rules import (
    Breach,
    chip_breaches,
    context_breaches,
    layout_breaches,
    quantization_breaches,
    stage_breaches,
    start_breaches,
    wish_breaches,
)
from console.serving.shape import Shape
from console.text import Text, say, verbatim

GIB = 1024**3
CARDS = (1, 2, 4, 8, 16)
CONTEXTS = (4096, 8192, 16384, 32768, 65536, 131072)
NOTHING = Reserve(0, 0, 0, 0)


@dataclass(frozen=True)
class Basis:
    """How a figure is known: "documented", "computed" or "measured", and from where: sentences, names of documents."""

    kind: str
    sources: tuple[Said, ...]

    def source(self, language: str) -> str:
        """From where, in one line."""
        return ("；" if language == "zh" else "; ").join(told(one, language) for one in self.sources)


@dataclass(frozen=True)
class Answer:
    """Whether it fits, by how much, and what would.

    max_context      tokens that each of the wished users may have; 0 when there is no room, or a rule forbids the rest
    max_concurrency  users with the wished context
    highest          the largest utilization with which vLLM starts on this card
    parts            what the reserve of `room` consists of, unless that was measured
    """

    fits: bool
    reason: Text
    room: Room
    layout: Layout
    max_context: int
    max_concurrency: int
    utilization: float
    highest: float
    parts: Reserve = NOTHING
    breaches: tuple[Breach, ...] = ()
    basis: Mapping[str, Basis] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One combination of the table."""

    cards: int
    quantization: str
    context: int
    answer: Answer


def fit(shape: Shape, one: Card, wish: Wish) -> Answer:
    """The answer for the best layout on these cards. Raises NotFound for a quantization that does not exist."""
    how = scheme(wish.quantization)
    fixed = _fixed_breaches(shape, one, wish, how)
    if not shape.computable or list(_senseless(wish)):
        return _empty(shape, one, wish, fixed)
    if too_deep := list(stage_breaches(shape, wish.pp)):
        return _empty(shape, one, wish, [*fixed, *too_deep])
    choice = [Sum(shape, one, wish, how, layout) for layout in _layouts(shape, one, wish)]
    if not choice:
        choice = [Sum(shape, one, wish, how, Layout())]
    best = max(choice, key=Sum.rank)
    found = [*fixed, *layout_breaches(shape, best.layout, wish.cards * dies(one.family))]
    return _answer(best, tuple(found))


def table(shape: Shape, one: Card, wish: Wish, quantizations: Sequence[str] = ()) -> list[Row]:
    """Cards x quantization x context for the wished users, each with its answer."""
    names = quantizations or [each.id for each in schemes() if not each.moe_only or shape.is_moe]
    contexts = [tokens for tokens in CONTEXTS if tokens <= shape.config.context] or [shape.config.context]
    return [
        Row(cards, name, tokens, fit(shape, one, replace(_open(wish), cards=cards, quantization=name, context=tokens)))
        for cards in CARDS
        for name in names
        for tokens in contexts
    ]


def _open(wish: Wish) -> Wish:
    """Other numbers of cards want other layouts."""
    return replace(wish, tp=0, pp=0, dp=0, ep=None)


def _fixed_breaches(shape: Shape, one: Card, wish: Wish, how: Scheme) -> list[Breach]:
    """What holds for every layout, the gravest first."""
    share = utilization_of(one, wish)
    found = [
        *chip_breaches(one.chip, one.name),
        *quantization_breaches(how, one.family, wish.release, is_moe=shape.is_moe),
        *_senseless(wish),
    ]
    if shape.config.context:
        found += context_breaches(shape, wish.context)
    return [*found, *start_breaches(one.total, one.free, share, highest_utilization(one))]


def _senseless(wish: Wish) -> Iterator[Breach]:
    return wish_breaches(wish.cards, wish.concurrency, wish.batched_tokens, wish.tp, wish.pp, wish.dp)


def _layouts(shape: Shape, one: Card, wish: Wish) -> Iterator[Layout]:
    """What is named is taken as it is, even if it breaks a rule; what is left open follows from the devices."""
    devices = wish.cards * dies(one.family)
    if not (wish.tp or wish.pp or wish.dp):
        yield from candidates(shape, devices, node_devices(one.family), wish.ep)
        return
    deep, wide = max(1, wish.pp), max(1, wish.dp)
    spread = (shape.is_moe and wide > 1) if wish.ep is None else wish.ep
    if wish.tp:
        yield Layout(wish.tp, deep, wide, spread)
        return
    for tp in range(1, max(1, min(shape.config.heads, devices // (deep * wide))) + 1):
        layout = Layout(tp, deep, wide, spread)
        if tp == 1 or not list(layout_breaches(shape, layout, devices)):
            yield layout


def _answer(best: Sum, breaches: tuple[Breach, ...]) -> Answer:
    one, wish = best.card, best.wish
    room = best.room(wish.context, wish.concurrency)
    only_context = all(breach.field == "context" for breach in breaches)
    context = best.max_context() if only_context else 0
    users = best.max_concurrency() if not breaches else 0
    return Answer(
        fits=not breaches and room.free >= 0,
        reason=_why(breaches[0]) if breaches else _words(room, wish, context, users),
        room=room,
        layout=best.layout,
        max_context=context,
        max_concurrency=users,
        utilization=utilization_of(one, wish),
        highest=highest_utilization(one),
        parts=best.reserve(wish.concurrency),
        breaches=breaches,
        basis=_basis(best.shape, one, wish),
    )


def _empty(shape: Shape, one: Card, wish: Wish, breaches: list[Breach]) -> Answer:
    """Nothing can be computed."""
    why = say(
        "Too little is known of {model} to compute what it needs: its layers, sizes or cache are not published. Name a "
        "folder with its weights instead.",
        model=shape.name,
    )
    return Answer(
        fits=False,
        reason=_why(breaches[0]) if breaches else why,
        room=Room(one.total, 0, 0, 0, 0),
        layout=Layout(),
        max_context=0,
        max_concurrency=0,
        utilization=utilization_of(one, wish),
        highest=highest_utilization(one),
        breaches=tuple(breaches),
        basis=_basis(shape, one, wish),
    )


def _why(breach: Breach) -> Text:
    return say("{why} {instead}", why=breach.reason, instead=breach.instead) if breach.instead else breach.reason


def _words(room: Room, wish: Wish, context: int, users: int) -> Text:
    if room.free >= 0:
        return say(
            "It fits: of {usable} GiB that vLLM may use on each card, {free} GiB stay free.",
            usable=_gib(room.usable),
            free=_gib(room.free),
        )
    lack = say(
        "It does not fit: {lack} GiB are missing on each card. Weights {weights}, cache {kv} and reserve {reserve} GiB "
        "stand against {usable} GiB that vLLM may use.",
        lack=_gib(-room.free),
        weights=_gib(room.weights),
        kv=_gib(room.kv),
        reserve=_gib(room.reserve),
        usable=_gib(room.usable),
    )
    return say("{why} {instead}", why=lack, instead=_way_out(wish, context, users))


def _way_out(wish: Wish, context: int, users: int) -> Text:
    if users and context:
        return say(
            "Users that fit with {wanted} tokens each: {users}. Tokens that fit for each of {all} users: {context}.",
            users=users,
            wanted=wish.context,
            all=wish.concurrency,
            context=context,
        )
    if context:
        return say("Tokens that fit for each of {all} users: {context}.", all=wish.concurrency, context=context)
    if users:
        return say("Users that fit with {wanted} tokens each: {users}.", users=users, wanted=wish.context)
    return say("Take more cards, fewer bits for each weight, or a smaller model.")


def _gib(size: int) -> str:
    return f"{size / GIB:.1f}"


def _basis(shape: Shape, one: Card, wish: Wish) -> dict[str, Basis]:
    total = Basis("measured", (say("npu-smi on the host"),))
    if not one.measured:
        total = Basis("documented", (verbatim(one.chip.source),))
    held = say("what others hold on the card") if one.measured else assumed("idle_mib").source
    extra = (assumed(name).source for name in ("hccl_buffer_mib", "graph_mib", "runtime_mib"))
    reserve = Basis("computed", (say("activation by closed form"), *extra))
    if wish.measured_reserve is not None:
        reserve = Basis("measured", (say("log of an instance on this kind of card"),))
    entry = say("layers times the cache entry of a rank")
    return {
        "total": total,
        "usable": Basis("computed", (assumed("utilization").source, held)),
        "weights": _basis_of_weights(shape, scheme(wish.quantization)),
        "kv": Basis("computed", (entry, verbatim("vllm/config/model.py (0.23.0)"))),
        "reserve": reserve,
        "free": Basis("computed", (say("what vLLM may use, less weights, cache and reserve"),)),
        "max_context": Basis("computed", (say("the largest context with which nothing is missing"),)),
        "max_concurrency": Basis("computed", (say("the most users with whom nothing is missing"),)),
    }


def _basis_of_weights(shape: Shape, how: Scheme) -> Basis:
    published, divided = verbatim(shape.source), say("divided as the closed form says")
    if has_stored(shape, how):
        return Basis("computed", (say("bytes of the weights in the folder"), divided))
    if how.id in shape.stated_gb:
        return Basis("documented", (verbatim(f"{shape.stated_gb[how.id]:g} GB"), published, divided))
    return Basis("computed", (say("closed form over config.json"), published))
