"""From the names a person gives (a model, a folder, a chip, a recipe) to what the calculator takes."""

from pathlib import Path

from console.catalog.ascend import Chip
from console.catalog.knowledge import known
from console.catalog.models import Model, find
from console.catalog.recipes import Recipe
from console.errors import InvalidInput, NotFound
from console.serving.fit import GIB, Answer, fit
from console.serving.fit_folder import shape_of_folder
from console.serving.folder import LocalFolder
from console.serving.room import Card, Wish, card
from console.serving.shape import Shape, shape_of
from console.text import say

MIB = 1024**2
MOST_GIB = 1024
"""More than any card has, so that a size in MiB is not taken for one in GiB."""


def subject(name: str) -> tuple[Shape, Model | None, str | None]:
    """A model of the catalog or a folder of this machine, and the quantization its name or its weights already say.

    Raises NotFound for a model nobody knows, InvalidInput for a folder that is none.
    """
    if not name.strip():
        raise InvalidInput(say("Name a model of the catalog, or the folder it lies in."))
    place = Path(name).expanduser()
    if place.is_absolute() or (place.is_dir() and (place / "config.json").exists()):
        folder = place.resolve()
        if not folder.is_dir():
            raise InvalidInput(say("There is no folder {folder}.", folder=str(folder)))
        shape, _ = shape_of_folder(str(folder), LocalFolder(folder))
        return shape, None, shape.stored_scheme
    found = find(name)
    return shape_of(found.model), found.model, found.scheme


def chip_named(name: str) -> Chip:
    """Raises NotFound with the chips there are."""
    found = known().called(name)
    if found is None:
        names = ", ".join(one for chip in known().chips for one in chip.names)
        raise NotFound(say("The catalog has no chip '{name}'. There are: {names}.", name=name, names=names))
    return found


def card_named(name: str, total_gib: float | None = None, free_gib: float | None = None) -> Card:
    """A card by its chip; total and free as npu-smi shows them, where they are known.

    Raises NotFound for a chip the catalog does not know, InvalidInput for sizes that no card has.
    """
    found = chip_named(name)
    if total_gib is None and found.hbm_mb is None:
        raise InvalidInput(
            say(
                "{name} comes with different amounts of memory. Read the total from npu-smi and give it in GiB "
                "(--hbm-total).",
                name=name,
            )
        )
    gib = (found.hbm_mb or 0) * MIB / GIB if total_gib is None else total_gib
    if not 0 < gib <= MOST_GIB or (free_gib is not None and not 0 <= free_gib <= gib):
        why = say("The memory of a card lies above 0 and up to {most} GiB, and what is free of it between 0 and that. "
                  "npu-smi shows MiB; 1024 of them are one GiB.", most=MOST_GIB)  # fmt: skip
        raise InvalidInput(why)
    total, free = round(gib * GIB), None if free_gib is None else round(free_gib * GIB)
    return card(found, total, free, npu_name(found, name))


def npu_name(chip: Chip, words: str) -> str:
    """The name npu-smi prints, where a person used another one."""
    return next((one for one in chip.names if one.lower() == words.strip().lower()), chip.names[0])


def recipe_wish(recipe: Recipe) -> Wish:
    """A recipe as a question."""
    return Wish(
        cards=recipe.cards,
        quantization=recipe.quantization,
        context=recipe.context,
        concurrency=recipe.concurrency,
        tp=recipe.tp,
    )


def recipe_answer(recipe: Recipe) -> Answer:
    """What the calculator says of a recipe on idle cards."""
    one = card(chip_named(recipe.chip), recipe.hbm_gib * GIB, name=recipe.chip)
    return fit(shape_of(find(recipe.model).model), one, recipe_wish(recipe))
