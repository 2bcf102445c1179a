"""What a person should know beside the answer: where the weights are, what is unsure, what documents say otherwise."""

from collections.abc import Iterator

from console.catalog.card_memory import dies
from console.catalog.models import Minimum, Model
from console.catalog.quantizations import scheme
from console.serving.fit import Answer
from console.serving.room import Card, Wish
from console.serving.shape import Shape, kv_heads
from console.text import Text, say

GIB = 1024**3


def remarks(shape: Shape, model: Model | None, one: Card, wish: Wish, answer: Answer) -> list[Text]:
    """`model` None = the figures come from a folder."""
    is_refused = {breach.field for breach in answer.breaches}
    found = [] if "quantization" in is_refused else list(_about_weights(model, one, wish))
    if answer.room.usable:  # nothing was added up for a wish that cannot be one
        found += [*_about_layout(shape, one, wish, answer), *_about_card(one, answer)]
    if model is not None:
        found += [*_about_figures(model), *_about_documents(model, one, wish, answer)]
    return found


def _about_weights(model: Model | None, one: Card, wish: Wish) -> Iterator[Text]:
    how = scheme(wish.quantization)
    if how.expands(one.family, wish.release):
        yield say(
            "This release loads {name} on this chip by expanding it to BF16: twice the size in memory, and no faster.",
            name=how.id,
        )
    if model is None or not how.runs:
        return
    repo = model.repo(how.id)
    if how.id == "none" and model.native == "fp8":
        yield say("The original weights of this model are FP8; BF16 ones have to be made from them.")
    elif repo is not None:
        yield say("Weights of this kind: {repo}.", repo=repo)
    else:
        yield say(
            "The catalog knows no published {name} weights of {model}; they have to be made with msModelSlim.",
            name=how.id,
            model=model.name,
        )


def _about_layout(shape: Shape, one: Card, wish: Wish, answer: Answer) -> Iterator[Text]:
    used, there = answer.layout.devices, wish.cards * dies(one.family)
    if dies(one.family) > 1:
        yield say("A card of this family is {count} devices; the figures are of one device.", count=dies(one.family))
    if used < there and shape.computable:
        yield say("{used} of {there} devices are used: more do not divide this model.", used=used, there=there)
    if shape.is_latent and answer.layout.tp > 1:
        yield say("Tensor parallel does not shrink the cache of this model: each rank keeps all of it.")
    elif shape.computable and answer.layout.tp > kv_heads(shape) and not shape.kv_per_token:
        yield say("There are more ranks than KV heads, so ranks keep copies of the cache.")


def _about_card(one: Card, answer: Answer) -> Iterator[Text]:
    if not one.measured:
        yield say(
            "The card is taken to be idle, with {held} GiB held by the driver: the most that idle cards showed. Name "
            "what is free to be exact.",
            held=f"{one.held / GIB:.1f}",
        )
    only_the_share = bool(answer.highest) and {breach.field for breach in answer.breaches} == {"utilization"}
    if not answer.fits and not only_the_share:
        return
    yield say(
        "Start with --gpu-memory-utilization {share} (at most {most} on this card).",
        share=f"{min(answer.utilization, answer.highest):.2f}",
        most=f"{answer.highest:.2f}",
    )


def _about_figures(model: Model) -> Iterator[Text]:
    if "config" in model.unverified or not model.verified:
        yield say("The figures of this model were not compared with its own config.json yet.")
    if "kv" in model.unverified:
        yield say("The cache of this model is compressed; its bytes per token are derived, not documented.")


def _about_documents(model: Model, one: Card, wish: Wish, answer: Answer) -> Iterator[Text]:
    stated = [each for each in model.minimum if each.basis == "documented" and _same(each, one, wish)]
    for each in stated:
        if each.cards <= wish.cards and not answer.fits and answer.max_concurrency == 0 and not answer.breaches:
            yield say(
                "Documents name {cards} cards of {gib} GiB for this; by this sum {lack} GiB are missing. Both stand.",
                cards=each.cards,
                gib=each.hbm_gib,
                lack=f"{-answer.room.free / GIB:.1f}",
            )
        elif each.cards > wish.cards and answer.fits:
            yield say(
                "Documents name {cards} cards of {gib} GiB for this, which is more generous than this sum.",
                cards=each.cards,
                gib=each.hbm_gib,
            )


def _same(each: Minimum, one: Card, wish: Wish) -> bool:
    return each.quantization == scheme(wish.quantization).id and each.hbm_gib == round(one.total / GIB)
