"""A sentence for people: English with named values, translated only where it is shown.

Pure code returns a `Text`; the surface and the command line turn it into the reader's language with `render`.
The English sentence is the key of the gettext catalog in assets/locale/<language>/LC_MESSAGES/console.po.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LANGUAGES = ("en", "zh")
LOCALE_FOLDER = Path(__file__).resolve().parent.parent / "assets" / "locale"

Value = str | int | float | None


@dataclass(frozen=True)
class Text:
    """An English sentence with `{named}` places and the values that fill them."""

    sentence: str
    values: Mapping[str, "Value | Text"] = field(default_factory=dict)

    def __str__(self) -> str:
        return render(self, "en")


def say(sentence: str, /, **values: "Value | Text") -> Text:
    """Mark `sentence` for translation. It must be a literal: a test collects every call."""
    return Text(sentence, values)


def verbatim(words: str) -> Text:
    """Words that are never translated: output of a tool, a name, a path."""
    return Text("{words}", {"words": words})


def render(text: "Text | str", language: str) -> str:
    """`text` in `language`; an entry the catalog lacks stays English (a test fails on such entries)."""
    if isinstance(text, str):
        text = Text(text)
    sentence = catalog(language).get(text.sentence, text.sentence)
    if not text.values:
        return sentence
    filled = {
        name: render(value, language) if isinstance(value, Text) else value for name, value in text.values.items()
    }
    try:
        return sentence.format(**filled)
    except (LookupError, ValueError, AttributeError, TypeError):
        return f"{sentence} {filled}"


def to_json(text: Text) -> str:
    """For a database column: keeps sentence and values apart so that it can be shown in either language later."""
    return json.dumps(_plain(text), ensure_ascii=False)


def from_json(stored: str) -> Text:
    """The inverse of `to_json`; a string that is not JSON of a Text is taken verbatim."""
    try:
        return _text(json.loads(stored))
    except (ValueError, KeyError, TypeError):
        return verbatim(stored)


@functools.cache
def catalog(language: str) -> Mapping[str, str]:
    """English sentence -> sentence in `language`; empty for English."""
    if language == "en":
        return {}
    from babel.messages.pofile import read_po

    with (LOCALE_FOLDER / language / "LC_MESSAGES" / "console.po").open("rb") as lines:
        entries = read_po(lines, locale=language)
    return {str(entry.id): str(entry.string) for entry in entries if entry.id and entry.string and not entry.fuzzy}


def _plain(text: Text) -> dict[str, object]:
    return {"s": text.sentence, "v": {k: _plain(v) if isinstance(v, Text) else v for k, v in text.values.items()}}


def _text(plain: dict[str, object]) -> Text:
    values = plain["v"]
    if not isinstance(values, dict):
        raise TypeError
    return Text(str(plain["s"]), {k: _text(v) if isinstance(v, dict) else v for k, v in values.items()})
