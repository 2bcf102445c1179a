"""Words on a terminal: its language, and what the exit codes of `pilot` mean."""

import os

from console.text import Text, Value, render

OK, FAILED, WRONG_INPUT, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 130


def language() -> str:
    """ "zh" or "en", from the locale variables in their usual order."""
    chosen = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    return "zh" if chosen.lower().startswith("zh") else "en"


def t(sentence: str, /, **values: Value | Text) -> str:
    """`sentence` in the language of the terminal. It must be a literal: a test collects every call."""
    return render(Text(sentence, values), language())


def words(text: Text | None) -> str:
    """A stored or computed text in the language of the terminal; "" for None."""
    return "" if text is None else render(text, language())
