"""Which folders of a host a plan may work in."""

from console.errors import InvalidInput
from console.text import say


def check(folder: str) -> None:
    """InvalidInput when a Python environment cannot live below `folder`."""
    if not folder.startswith("/"):
        raise InvalidInput(
            say("The work folder must be an absolute path such as /home/me/pilot: {folder}", folder=folder)
        )
    bad = " ".join(sorted({repr(mark) for mark in folder if _breaks_launchers(mark)}))
    if bad:
        raise InvalidInput(
            say(
                "The work folder must not contain {marks}: the launchers in a Python environment break on that.",
                marks=bad,
            )
        )


def _breaks_launchers(mark: str) -> bool:
    """Launchers name their folder between double quotes, and ":" separates folders in PATH."""
    return mark in ":\"'`$\\" or ord(mark) < 32 or ord(mark) == 127
