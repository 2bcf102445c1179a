"""The answer of `pilot fit`: whether a model fits on cards, from the catalog or a folder, as words or as JSON."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from console.catalog.named import release_named
from console.catalog.quantizations import NEWEST, scheme
from console.catalog.recipes import Recipe, recipes, recipes_for
from console.errors import InvalidInput, NotFound
from console.serving.ask_fit import MIB, card_named, recipe_answer, subject
from console.serving.fit import GIB, Answer, Row, fit, table
from console.serving.remarks import remarks
from console.serving.room import DEFAULT_CONTEXT, Card, Wish
from console.serving.shape import Shape
from console.terminal import FAILED, OK, WRONG_INPUT, language, t, words
from console.text import say

A_PAIR = 2
"""Cards that are meant where no number is given."""
BY_ITSELF = ("cards", "context", "tp", "pp", "dp", "ep")
"""What the table tries by itself."""
OF_RECIPES = ("chip", "hbm_total", "hbm_free", "json", "data", "recipes", "verb")
PROMISED = ("total", "usable", "weights", "kv", "reserve", "free")


def tell(chosen: argparse.Namespace) -> int:
    """0 it fits, 1 it does not, 2 wrong input."""
    try:
        if chosen.recipes:
            _unused(chosen, [name for name in vars(chosen) if name not in OF_RECIPES])
            return _recipes(chosen)
        return _fit(chosen)
    except (NotFound, InvalidInput) as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT


def _fit(chosen: argparse.Namespace) -> int:
    shape, model, named = subject(chosen.model)
    if not chosen.chip:
        raise InvalidInput(say("Name the chip: --chip 910B4, for example."))
    one = card_named(chosen.chip, chosen.hbm_total, chosen.hbm_free)
    wish = _wish(chosen, shape, named)
    if chosen.table:
        _unused(chosen, BY_ITSELF)
        return _table(shape, one, wish, chosen)
    answer = fit(shape, one, wish)
    said = [words(each) for each in remarks(shape, model, one, wish, answer)]
    if chosen.json:
        print(
            json.dumps({**as_json(answer), **_asked(shape, one, wish), "remarks": said}, ensure_ascii=False, indent=2)
        )
    else:
        print("\n".join([words(answer.reason), *_sum_lines(answer), *said]))
    return OK if answer.fits else FAILED


def _wish(chosen: argparse.Namespace, shape: Shape, named: str | None) -> Wish:
    """Raises NotFound for a quantization or a release that the catalog does not know."""
    usual = min(shape.config.context or DEFAULT_CONTEXT, DEFAULT_CONTEXT)
    return Wish(
        cards=A_PAIR if chosen.cards is None else chosen.cards,
        quantization=scheme(named or "none" if chosen.quantization is None else chosen.quantization).id,
        context=usual if chosen.context is None else chosen.context,
        concurrency=1 if chosen.concurrency is None else chosen.concurrency,
        release=NEWEST if chosen.release is None else release_named(chosen.release),
        tp=_given(chosen.tp),
        pp=_given(chosen.pp),
        dp=_given(chosen.dp),
        ep=True if chosen.ep else None,
        utilization=chosen.utilization,
        batched_tokens=chosen.batched_tokens,
        eager=chosen.eager,
        kv_bits=chosen.kv_bits or 16,
    )


def _unused(chosen: argparse.Namespace, names: Sequence[str]) -> None:
    """Tell on the error stream what was given and has no part in the answer."""
    given = [name for name in names if getattr(chosen, name) not in (None, False, "")]
    if given:
        told = ", ".join("MODEL" if name == "model" else f"--{name.replace('_', '-')}" for name in given)
        print(f"pilot: {t('Not used for this answer: {names}.', names=told)}", file=sys.stderr)


def _given(size: int | None) -> int:
    """0 leaves it open; a 0 that was typed is no size and is refused as such."""
    return 0 if size is None else (size or -1)


def as_json(answer: Answer, say_words: Callable[[Any], str] = words) -> dict[str, Any]:
    """The answer with bytes as numbers, in the promised order; more follows after."""
    return {
        "fits": answer.fits,
        "reason": say_words(answer.reason),
        "per_card_bytes": {name: getattr(answer.room, name) for name in PROMISED},
        "max_context": answer.max_context,
        "max_concurrency": answer.max_concurrency,
        "tp": answer.layout.tp,
        "pp": answer.layout.pp,
        "basis": {name: one.kind for name, one in answer.basis.items()},
        "sources": {name: one.source("en") for name, one in answer.basis.items()},
        "dp": answer.layout.dp,
        "ep": answer.layout.ep,
        "utilization": answer.utilization,
        "highest_utilization": answer.highest,
        "reserve_parts": asdict(answer.parts),
        "rules": [
            {
                "field": one.field,
                "reason": say_words(one.reason),
                "instead": say_words(one.instead),
                "source": one.source,
            }
            for one in answer.breaches
        ],
    }


def _asked(shape: Shape, one: Card, wish: Wish) -> dict[str, Any]:
    keys = ("cards", "quantization", "context", "concurrency", "release")
    return {"model": shape.name, "chip": one.name, **{key: getattr(wish, key) for key in keys}}


def _sum_lines(answer: Answer) -> list[str]:
    layout = answer.layout
    figures = {
        "total": t("total"),
        "usable": t("vLLM may use"),
        "weights": t("weights"),
        "kv": t("cache (KV)"),
        "reserve": t("reserve"),
        "free": t("free"),
    }
    return [
        t("One card, with tensor parallel {tp}, pipeline {pp}, data {dp}:", tp=layout.tp, pp=layout.pp, dp=layout.dp),
        *(
            f"  {getattr(answer.room, figure) / GIB:>8.2f} GiB  {name} ({_known_how(answer, figure)})"
            for figure, name in figures.items()
        ),
        *_limit_line(answer),
    ]


def _limit_line(answer: Answer) -> list[str]:
    """Nothing where neither is known, because a rule forbids it or not even one user has room."""
    if not answer.max_context and not answer.max_concurrency:
        return []
    return [
        t(
            "Largest context for this many users: {context} tokens. Most users with this context: {users}.",
            context=answer.max_context,
            users=answer.max_concurrency,
        )
    ]


def _known_how(answer: Answer, figure: str) -> str:
    named = {"documented": t("documented"), "computed": t("computed"), "measured": t("measured here")}
    return named[answer.basis[figure].kind]


def _table(shape: Shape, one: Card, wish: Wish, chosen: argparse.Namespace) -> int:
    rows = table(shape, one, wish, [wish.quantization] if chosen.quantization else ())
    if chosen.json:
        print(json.dumps({"model": shape.name, "rows": [_plain(row) for row in rows]}, ensure_ascii=False, indent=2))
    else:
        _draw(rows)
    return OK if any(row.answer.fits for row in rows) else FAILED


def _plain(row: Row) -> dict[str, Any]:
    asked = {"cards": row.cards, "quantization": row.quantization, "context": row.context}
    kept = ("fits", "reason", "max_context", "max_concurrency", "tp", "pp")
    answer = as_json(row.answer)
    return {**asked, **{key: answer[key] for key in kept}, "free": row.answer.room.free}


def _draw(rows: Sequence[Row]) -> None:
    from rich.console import Console
    from rich.table import Table

    drawn = Table(box=None, pad_edge=False)
    for head, side in ((t("cards"), "right"), (t("quantization"), "left"), (t("context"), "right")):
        drawn.add_column(head, justify="right" if side == "right" else "left", overflow="fold")
    drawn.add_column(t("users"), justify="right", overflow="fold")
    drawn.add_column(t("answer"), overflow="fold")
    for row in rows:
        mark = "●" if row.answer.fits else "■"
        figures = (row.cards, row.quantization, row.context, row.answer.max_concurrency)
        drawn.add_row(*map(str, figures), f"{mark} {words(row.answer.reason)}")
    Console(highlight=False, markup=False).print(drawn)


def _recipes(chosen: argparse.Namespace) -> int:
    found = recipes()
    if chosen.chip:
        found = recipes_for(card_named(chosen.chip, chosen.hbm_total, chosen.hbm_free).total // MIB)
    if chosen.json:
        print(json.dumps({"recipes": [_recipe(each) for each in found]}, ensure_ascii=False, indent=2))
        return OK
    for each in found:
        print(f"{each.title[language()]}: {each.model}, {_setting(each)}")
        print(f"  {words(recipe_answer(each).reason)}\n  {each.expect[language()]}")
    return OK


def _recipe(each: Recipe) -> dict[str, Any]:
    """A recipe with what the calculator says of it."""
    return {**asdict(each), "title": each.title[language()], "expect": each.expect[language()], **_answer_of(each)}


def _answer_of(each: Recipe) -> dict[str, Any]:
    answer = as_json(recipe_answer(each))
    return {key: value for key, value in answer.items() if key not in ("sources", "rules")}


def _setting(each: Recipe) -> str:
    return t(
        "{cards} cards of {gib} GiB, {quantization}, {users} users with {context} tokens each",
        cards=each.cards,
        gib=each.hbm_gib,
        quantization=each.quantization,
        users=each.concurrency,
        context=each.context,
    )
