"""What a person gave to a form and the form cannot take as it is: the sentence that says so."""

from console.serving.labels import label
from console.text import Text, say


def moved(name: str | Text, given: object, now: float, least: float, most: float) -> Text:
    """A number out of the limits of the form. name: a field of ServeSpec, or what the form calls it."""
    return say(
        "{name}: {given} was given. The form takes {least} to {most}, so it begins with {now}.",
        name=label(name) if isinstance(name, str) else name,
        given=_short(given) if isinstance(given, float) else str(given),
        least=_short(least),
        most=_short(most),
        now=_short(now),
    )


def _short(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"
