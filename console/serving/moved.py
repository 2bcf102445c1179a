"""What a person gave to a form and the form cannot take as it is: the sentence that says so."""

from console.serving.labels import label
from console.text import Text, say


def moved(name: str, given: object, now: float, least: float, most: float) -> Text:
    """A number out of the limits of the form. name: a field of ServeSpec, or a word for people."""
    return say(
        "{name}: {given} was given. The form takes {least} to {most}, so it begins with {now}.",
        name=label(name),
        given=str(given),
        least=_short(least),
        most=_short(most),
        now=_short(now),
    )


def _short(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"
