"""A fact: one read-only command for a host and the function that understands its output."""

from collections.abc import Callable
from dataclasses import dataclass

ABSENT = "absent"
"""What a command prints when the thing it asks about is not on the host, which is an answer too."""


@dataclass(frozen=True)
class Fact:
    """One thing to find out.

    name         lower case, also the parameter name by which checks ask for it
    command      POSIX shell that changes nothing; values of the question are variables such as "$PILOT_FOLDER"
    parser       text -> value; a `Trouble` or an exception makes the fact unknown
    limit_s      seconds after which the command is ended
    without_npu  whether the fact matters on a host that has no NPU
    """

    name: str
    command: str
    parser: Callable[[str], object]
    limit_s: int = 5
    without_npu: bool = True


def optional(parser: Callable[[str], object]) -> Callable[[str], object]:
    """`parser` for a command that may print ABSENT: the value is then None."""

    def parse(text: str) -> object:
        return None if text.strip() == ABSENT else parser(text)

    return parse
