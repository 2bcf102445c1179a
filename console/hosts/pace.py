"""How fast bytes may go: a limit that everybody who sends at the same time shares."""

import threading
import time
from collections.abc import Callable

from console.errors import InvalidInput
from console.text import say

BLOCK = 1_048_576
"""Bytes sent at a time where there is no limit."""


class Pace:
    """Holds everybody who shares it to `limit` bytes per second together; None is no limit."""

    def __init__(
        self,
        limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        if limit is not None and limit <= 0:
            raise InvalidInput(say("The limit must be more than 0 MB per second."))
        self.limit, self.clock, self.sleep = limit, clock, sleep
        self.free_at, self.lock = clock(), threading.Lock()

    @property
    def block(self) -> int:
        """Bytes to send at a time: a tenth of a second's, so that a slow line is used evenly."""
        return BLOCK if self.limit is None else max(4096, min(BLOCK, int(self.limit / 10)))

    def take(self, count: int) -> None:
        """Wait until `count` bytes may go."""
        if self.limit is None:
            return
        with self.lock:
            now = self.clock()
            begin = max(now, self.free_at)
            self.free_at = begin + count / self.limit
        if begin > now:
            self.sleep(begin - now)
