"""Cards and questions that the tests of the calculator share."""

from console.catalog.models import find
from console.serving.ask_fit import card_named
from console.serving.fit import Answer, fit
from console.serving.room import Card, Wish
from console.serving.shape import Shape, shape_of

GIB = 1024**3
MIB = 1024**2
SMALL = card_named("910B4")
LARGE = card_named("910B3")


def model(name: str) -> Shape:
    return shape_of(find(name).model)


def asked(name: str, card: Card = SMALL, cards: int = 2, **wish: object) -> Answer:
    return fit(model(name), card, Wish(cards, **wish))  # type: ignore[arg-type]
