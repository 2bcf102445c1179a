"""What the start scripts say, in English or Chinese, before anything is installed that could translate."""

import os
import sys


class Stop(Exception):
    """The script cannot go on; its words say what was seen and what to do."""


def chinese() -> bool:
    """True if the terminal's locale is Chinese and can show it."""
    chosen = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    if not chosen.lower().startswith("zh"):
        return False
    try:
        "中文，。".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def either(english: str, zh: str) -> str:
    """The sentence of the reader's language."""
    return zh if chinese() else english
