"""Riding out a lost connection: the same act again until the host is back, with the reason on the job meanwhile."""

import itertools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from console.errors import CommandTimeout, HostError, Unreachable
from console.jobs.ends import StepFailed
from console.text import say

if TYPE_CHECKING:
    from console.jobs.carry import Carry

LEAST_S = 600.0
"""Seconds a host may be away at the least, however short its step may take: a server needs minutes to restart."""
PAUSES = (1.0, 2.0, 4.0, 5.0)
SILENCE: tuple[type[HostError], ...] = (Unreachable, CommandTimeout)
"""What a look at a command may meet: a network that swallows everything shows as a command that takes too long."""

T = TypeVar("T")


def ride(carry: "Carry", act: Callable[[], T], limit_s: float, on: tuple[type[HostError], ...] = (Unreachable,)) -> T:
    """What `act` returns; it must be harmless to do twice. Cancelled and LetGo are heeded between two tries.

    The first contact of a job with its host is not ridden out: a host that was never there is told at once.
    StepFailed when the host stays away for `limit_s`, but at least LEAST_S.
    """
    gone_since = 0.0
    for pause in itertools.chain(PAUSES, itertools.repeat(PAUSES[-1])):
        try:
            result = act()
        except on as error:
            if not carry.reached:
                raise
            now = time.monotonic()
            gone_since = gone_since or now
            _bear(carry, error, now - gone_since, max(limit_s, LEAST_S))
            carry.rest(pause)
            continue
        carry.reached = True
        if gone_since:
            carry.tell(None)
        return result
    raise AssertionError("the pauses never end")


def _bear(carry: "Carry", error: HostError, gone_s: float, limit_s: float) -> None:
    if gone_s > limit_s:
        carry.tell(None)
        raise StepFailed(
            say(
                "{host} could not be reached for {limit} s, and nobody knows how far this step came. When the host is "
                "back, resume the job. {why}",
                host=carry.host.title,
                limit=round(limit_s),
                why=error.text,
            )
        ) from error
    carry.tell(
        say(
            "There has been no connection to {host} for {seconds} s; trying again. {why}",
            host=carry.host.title,
            seconds=round(gone_s),
            why=error.text,
        )
    )
