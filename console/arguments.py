"""The words of the command line, where a question is itself the name of an option."""

import sys
from collections.abc import Sequence

QUESTION = "--why-not"
OWN = frozenset(
    f"--{name}"
    for name in (
        "arch", "cann", "chip", "data", "driver", "firmware", "glibc", "help", "host", "json", "os", "python", "route",
    )
)  # fmt: skip
"""Options of the verb that asks: behind the question they mean that it was forgotten."""


def spoken(arguments: Sequence[str] | None) -> list[str]:
    """What was typed, with `--why-not --async_engine` joined, which argparse takes for two options."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if QUESTION in words[:-1]:
        at = words.index(QUESTION)
        asked = words[at + 1]
        if asked.startswith("-") and asked.partition("=")[0] not in OWN:
            words[at : at + 2] = [f"{QUESTION}={asked}"]
    return words
