"""Bringing many files onto a host: two on their way at a time, by two processes, while the host hashes those before."""

import contextvars
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext

from console.errors import HostError
from console.hosts.pace import BLOCK, Pace
from console.hosts.piece import Piece
from console.hosts.runner import Feeder, Runner
from console.hosts.transfer import Look, Parcel, There, bring, confirm
from console.hosts.transfer_scripts import CONFIRM

SMALL = 16 * BLOCK
"""Bytes up to which a file is hashed in the session that brought it: another one would take longer."""
WORTH = 128 * BLOCK
"""Bytes from which on a second process is worth its start, about half a second of a processor."""
TICK_S = 0.2

log = logging.getLogger(__name__)


def send_all(
    runner: Runner,
    folder: str,
    parcels: Sequence[Parcel],
    seen: Look,
    *,
    pace: Pace | None = None,
    told: Callable[[str, int], None] = lambda name, count: None,
) -> int:
    """Bring several files as `transfer.send` does, and give the bytes that went over.

    The last one gets its final name only after all others; one that arrives wrong ends everything. `told` hears, in
    this thread, a file's name and how many bytes of all of them are there; what it raises ends everything too.
    """
    if not parcels:
        return 0
    with ThreadPoolExecutor(1, "hashing") as hashing, ThreadPoolExecutor(1, "beside") as pool:
        work = _Work(runner, folder, parcels, seen, pace or Pace(), told, hashing)
        with work.second() as feeder:
            try:
                beside = None if feeder is None else pool.submit(contextvars.copy_context().run, work.beside, feeder)
                work.here(beside)
            finally:
                work.stop.set()
                hashing.shutdown(wait=False, cancel_futures=True)
    return work.sent


class _Stopped(Exception):
    """The other one of the two has failed."""


class _Work:
    """The files that still have to go, and how far all are. Two threads take from it: `here` and `beside`."""

    def __init__(
        self,
        runner: Runner,
        folder: str,
        parcels: Sequence[Parcel],
        seen: Look,
        pace: Pace,
        told: Callable[[str, int], None],
        hashing: ThreadPoolExecutor,
    ) -> None:
        self.runner, self.folder, self.seen, self.pace, self.told = runner, folder, seen.seen, pace, told
        self.waiting, self.last, self.hashing = deque(parcels), parcels[-1], hashing
        self.hashed: list[Future[None]] = []
        self.at = dict.fromkeys((one.name for one in parcels), 0)
        self.sent, self.named = 0, self.last.name
        self.joined, self.stop, self.lock = False, threading.Event(), threading.Lock()

    def second(self) -> AbstractContextManager[Feeder | None]:
        missing = [one.size for one in self.waiting if self.seen[one.name].there != There.WHOLE]
        worth = self.pace.limit is None and len(missing) > 1 and sum(missing) >= WORTH
        return self.runner.apart() if worth else nullcontext()

    def here(self, beside: Future[None] | None) -> None:
        """This process's share, then what is left to do when all has gone over."""
        try:
            self._go(None)
            while beside and self.joined and not beside.done():
                wait([beside], TICK_S)
                self._tell()
        except _Stopped:
            pass
        if beside and self.joined:
            beside.result()
        for one in self.hashed:
            one.result()
        if self.seen[self.last.name].there != There.WHOLE:
            confirm(self.runner, self.folder, self.last)

    def beside(self, feeder: Feeder) -> None:
        """The share of the other process. Without it, as when the host lets nobody log in twice, all goes from here."""
        try:
            feeder.ready()
        except HostError as error:
            if not self.stop.is_set():
                log.warning("Files go one at a time: %s", error)
            return
        self.joined = True
        try:
            self._go(feeder)
        except BaseException:
            self.stop.set()
            raise

    def _go(self, feeder: Feeder | None) -> None:
        while (one := self._next()) is not None:
            seen = self.seen[one.name]
            at_once = one.size <= SMALL and one is not self.last
            piece = Piece(one.source, 0, self.pace, self._teller(one, here=feeder is None))
            went = bring(self.runner, self.folder, one, seen, piece, CONFIRM if at_once else "", feeder)
            with self.lock:
                self.sent += went.bytes
                if not at_once and one is not self.last and seen.there != There.WHOLE:
                    own = contextvars.copy_context()  # in the name of who acts here
                    self.hashed.append(self.hashing.submit(own.run, confirm, self.runner, self.folder, one))

    def _next(self) -> Parcel | None:
        with self.lock:
            for one in self.hashed:
                if one.done():
                    one.result()
            return self.waiting.popleft() if self.waiting else None

    def _teller(self, one: Parcel, *, here: bool) -> Callable[[int], None]:
        def told(at: int) -> None:
            if self.stop.is_set():
                raise _Stopped
            self.at[one.name], self.named = at, one.name
            if here:
                self._tell()

        return told

    def _tell(self) -> None:
        self.told(self.named, sum(self.at.values()))
