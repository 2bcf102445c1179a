"""Bringing many files onto a host: two on their way at a time, by two processes, while the host hashes those before."""

import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, nullcontext

from console.errors import HostError, Unreachable
from console.hosts.pace import BLOCK, Pace
from console.hosts.piece import Piece
from console.hosts.runner import Runner, Second
from console.hosts.transfer import Look, Parcel, There, bring, confirm, look
from console.hosts.transfer_scripts import CONFIRM
from console.text import Text, say

SMALL = 16 * BLOCK
"""Bytes up to which a file is hashed in the session that brought it: another one would take longer."""
WORTH = 128 * BLOCK
"""Bytes from which on a second process is worth its start, about half a second of a processor."""
TICK_S = 0.2


def send_all(
    runner: Runner,
    folder: str,
    parcels: Sequence[Parcel],
    seen: Look,
    *,
    pace: Pace | None = None,
    told: Callable[[str, int], None] = lambda name, count: None,
    noted: Callable[[Text], object] = lambda text: None,
) -> int:
    """Bring several files as `transfer.send` does, large ones first, and give the bytes that went over.

    The last one gets its final name only after all others; one that arrives wrong ends everything. `told` hears, in
    this thread, a file's name and how many bytes of all of them are there; what it raises ends everything too. `noted`
    hears why only one process sends, where that was not meant.
    """
    if not parcels:
        return 0
    with ThreadPoolExecutor(1, "hashing") as hashing, ThreadPoolExecutor(1, "beside") as pool, ExitStack() as stack:
        work = _Work(runner, folder, parcels, seen, pace or Pace(), told, noted, hashing)
        beside = None
        try:
            feeder = stack.enter_context(work.second())
            beside = None if feeder is None else pool.submit(contextvars.copy_context().run, work.beside, feeder)
        except HostError as error:
            work.alone(error)
        try:
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
        noted: Callable[[Text], object],
        hashing: ThreadPoolExecutor,
    ) -> None:
        self.runner, self.folder, self.seen, self.pace = runner, folder, dict(seen.seen), pace
        self.told, self.noted, self.notes = told, noted, deque[Text]()
        # a large one that is begun last would go, and be hashed, while nothing else is left to do
        self.waiting, self.last = deque(sorted(parcels, key=lambda one: one.size, reverse=True)), parcels[-1]
        self.hashing, self.hashed = hashing, list[Future[None]]()
        self.at = dict.fromkeys((one.name for one in parcels), 0)
        self.sent, self.named = 0, self.last.name
        self.joined, self.stop, self.lock = False, threading.Event(), threading.Lock()

    def second(self) -> AbstractContextManager[Second | None]:
        """Another process, where it gains something."""
        missing = [one.size for one in self.waiting if self.seen[one.name].there != There.WHOLE]
        worth = self.pace.limit is None and len(missing) > 1 and sum(missing) >= WORTH
        return self.runner.apart() if worth and len(os.sched_getaffinity(0)) > 1 else nullcontext()

    def here(self, beside: Future[None] | None) -> None:
        """This process's share, then what is left to do when all has gone over."""
        try:
            self._go(None)
            if beside is not None and self.joined:
                self._await(beside)
            self._go(None)  # what the other one gave back
        except _Stopped:
            if beside is not None:
                beside.result()
            raise
        if beside is not None and beside.done():
            beside.result()
        self._await(*self.hashed)
        if self.seen[self.last.name].there != There.WHOLE:
            self._confirm(self.last)
            self._await(*self.hashed)
        self._tell()

    def beside(self, feeder: Second) -> None:
        """The share of the other process. Without it, as when the host lets nobody log in twice, all goes from here."""
        try:
            feeder.ready()
        except HostError as error:
            self.alone(error)
            return
        self.joined = True
        try:
            self._go(feeder)
        except BaseException:
            self.stop.set()
            raise

    def alone(self, error: HostError) -> None:
        """`here` says it: only that thread speaks to whoever asked for this."""
        self.notes.append(say("From now on one process sends, not two: {why}", why=error.text))

    def _go(self, feeder: Second | None) -> None:
        while (one := self._next()) is not None:
            at_once = one.size <= SMALL and one is not self.last
            piece = Piece(one.source, 0, self.pace, self._teller(one, here=feeder is None))
            try:
                seen = self.seen[one.name]
                went = bring(feeder or self.runner, self.folder, one, seen, piece, CONFIRM if at_once else "")
            except Unreachable as error:
                if feeder is None or self.stop.is_set():
                    raise
                self._give_back(one, error)
                return
            with self.lock:
                self.sent += went.bytes
            if not at_once and one is not self.last and seen.there != There.WHOLE:
                self._confirm(one)

    def _give_back(self, one: Parcel, error: HostError) -> None:
        """The other process, or its connection, is gone: if the host is away too, `here` sees that by itself."""
        self.seen |= look(self.runner, self.folder, [one]).seen
        self.alone(error)
        with self.lock:
            self.waiting.appendleft(one)

    def _confirm(self, one: Parcel) -> None:
        own = contextvars.copy_context()  # in the name of who acts here
        with self.lock:
            self.hashed.append(self.hashing.submit(own.run, confirm, self.runner, self.folder, one))

    def _next(self) -> Parcel | None:
        if self.stop.is_set():
            raise _Stopped
        with self.lock:
            for one in self.hashed:
                if one.done():
                    one.result()
            return self.waiting.popleft() if self.waiting else None

    def _await(self, *futures: Future[None]) -> None:
        """Their end, and their errors; whoever asked for this may stop it meanwhile."""
        while wait(futures, TICK_S).not_done:
            self._tell()
        for one in futures:
            one.result()

    def _teller(self, one: Parcel, *, here: bool) -> Callable[[int], None]:
        def told(at: int) -> None:
            if self.stop.is_set():
                raise _Stopped
            # what was on its way when a connection broke counts until the host has said what it has
            self.at[one.name], self.named = max(at, self.at[one.name]), one.name
            if here:
                self._tell()

        return told

    def _tell(self) -> None:
        while self.notes:
            self.noted(self.notes.popleft())
        self.told(self.named, sum(self.at.values()))
