"""Writes down every command that is sent to a host: who, when, where, script, exit code, seconds, error.

A command never waits for this and never fails by it. What was sent is noted in memory; a thread of this process writes
it into the database a moment later. The same command sent again within REPEAT_S, by the same person and with the same
end, as by a watcher, is one row that counts; its counts are written every WRITE_S and when the process ends. Standard
input is never kept: scripts, files and passwords travel there.
"""

import atexit
import contextvars
import functools
import re
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from console.errors import ConsoleError
from console.hosts import commands
from console.hosts.commands import Key, Sent
from console.hosts.piece import Piece
from console.hosts.runner import Outcome, Runner, Second
from console.masking import mask
from console.settings import actor as this_user
from console.settings import settings
from console.text import Text, to_json

REPEAT_S, WRITE_S, GATHER_S = 60.0, 10.0, 0.2
"""Seconds: how long a command counts as repeated; between writing counts; for new commands to gather before a write."""
MOST_SIGNS, MARGIN = 2000, 400
"""Longest script kept; of a longer one the beginning, and how much is missing. MARGIN: masked beyond that too."""
MOST_WAITING = 5000
"""Rows kept in memory while the database cannot be written; of more the oldest are given up."""
PRUNE_S = 3600.0
_TOKEN = re.compile(r"(?m)^(token=|export PILOT_NOW=)([0-9a-f]{32}|\d{1,12})$")
"""The mark and the time of a probe, new each time: with them every probe would be another command."""

_acting: contextvars.ContextVar[str | None] = contextvars.ContextVar("acting", default=None)
_unattended: list[str] = []


def unattended(name: str) -> None:
    """From now on this process acts by itself, in the name of `name`, wherever nobody is said to act."""
    _unattended[:] = [name]


@contextmanager
def acting(name: str) -> Iterator[None]:
    """Commands of this thread are sent in the name of `name`."""
    before = _acting.set(name)
    try:
        yield
    finally:
        _acting.reset(before)


def who_acts() -> str:
    """In whose name this thread acts: who started its job, else the console in its worker, else the user here."""
    return _acting.get() or (_unattended[0] if _unattended else this_user())


class Recorded:
    """A runner whose commands are written down. Satisfies Runner."""

    def __init__(self, runner: Runner, host_id: int, where: str, actor: str | None = None) -> None:
        self.runner, self.host_id, self.where, self.actor = runner, host_id, where, actor

    def run(self, script: str, *, timeout_s: float = 30, stdin: bytes = b"") -> Outcome:
        return self.noted(script, lambda: self.runner.run(script, timeout_s=timeout_s, stdin=stdin))

    def put(self, source: Path, target: str, *, timeout_s: float = 600) -> None:
        told = f"# put {shlex.quote(str(source))} {shlex.quote(target)}"
        with self._failing(told) as began:
            self.runner.put(source, target, timeout_s=timeout_s)
        self._note(told, began, time.time() - began, 0, None)

    def feed(self, script: str, piece: Piece, *, timeout_s: float) -> Outcome:
        return self.noted(script, lambda: self.runner.feed(script, piece, timeout_s=timeout_s))

    @contextmanager
    def apart(self) -> Iterator[Second | None]:
        with self.runner.apart() as second:
            yield None if second is None else _RecordedSecond(self, second)

    def noted(self, script: str, act: Callable[[], Outcome]) -> Outcome:
        """What `act` comes to, which sends `script`."""
        with self._failing(script) as began:
            outcome = act()
        self._note(script, began, outcome.seconds, outcome.code, None)
        return outcome

    @contextmanager
    def _failing(self, script: str) -> Iterator[float]:
        """Gives the time; an error of ours is written down on its way."""
        began = time.time()
        try:
            yield began
        except ConsoleError as error:
            self._note(script, began, time.time() - began, None, error.text)
            raise

    def address(self, port: int) -> str:
        return self.runner.address(port)

    def _note(self, script: str, began: float, seconds: float, code: int | None, error: Text | None) -> None:
        told = None if error is None else to_json(error)
        key = (str(settings().database), self.host_id, self.where, self.actor or who_acts(), kept(script), code, told)
        JOURNAL.note(key, began, seconds)


class _RecordedSecond:
    """What it sends is written down as what `recorded` sends. Satisfies Second."""

    def __init__(self, recorded: Recorded, second: Second) -> None:
        self.recorded, self.second = recorded, second

    def ready(self) -> None:
        self.second.ready()

    def run(self, script: str, *, timeout_s: float = 30) -> Outcome:
        return self.recorded.noted(script, lambda: self.second.run(script, timeout_s=timeout_s))

    def feed(self, script: str, piece: Piece, *, timeout_s: float) -> Outcome:
        return self.recorded.noted(script, lambda: self.second.feed(script, piece, timeout_s=timeout_s))


@functools.lru_cache(maxsize=64)
def kept(script: str) -> str:
    """`script` as it is kept: what may be secret masked, of a long one the beginning and how much is missing."""
    script = script.strip()
    shown = mask(_TOKEN.sub(r"\1*", script[: MOST_SIGNS + MARGIN]))
    missing = len(script) - MOST_SIGNS
    return shown if missing <= 0 else f"{shown[:MOST_SIGNS]}\n# … (+{missing})"


class Journal:
    """What this process has sent and not written down yet, and the thread that writes it."""

    def __init__(self) -> None:
        self.sent: dict[Key, Sent] = {}
        self.ended: list[tuple[Key, Sent]] = []
        self.lock, self.writing = threading.Lock(), threading.Lock()
        self.new = threading.Event()
        self.thread: threading.Thread | None = None
        self.pruned = float("-inf")
        self.told = False

    def note(self, key: Key, began: float, seconds: float) -> None:
        """A command was sent; costs a few microseconds."""
        with self.lock:
            known = self.sent.get(key)
            if known is not None and began - known.last <= REPEAT_S:
                known.times, known.last, known.seconds = known.times + 1, began, max(known.seconds, seconds)
                return
            if known is not None:
                self._end(key, known)
            self.sent[key] = Sent(began, began, seconds)
            if self.thread is None or not self.thread.is_alive():
                self.thread = threading.Thread(target=self._write_on, name="journal", daemon=True)
                with suppress(RuntimeError):  # no thread begins any more in a process that ends: that writes at its end
                    self.thread.start()
        self.new.set()

    def flush(self) -> None:
        """Write down everything now. Never raises: what cannot be written is kept for the next time."""
        with self.writing:
            due = self._due()
            try:
                if due:
                    self._write(due)
                    self.told = False
            except (ConsoleError, SQLAlchemyError, OSError) as error:
                self._give_back(due)
                if not self.told:  # once, not at every try
                    print(f"commands cannot be written down for the moment: {error}", file=sys.stderr)
                self.told = True

    def _write_on(self) -> None:
        while True:
            fresh = self.new.wait(WRITE_S)
            if fresh:
                time.sleep(GATHER_S)
            self.new.clear()
            self.flush()

    def _end(self, key: Key, one: Sent) -> None:
        """This row counts no further."""
        self.sent.pop(key, None)
        if one.due:
            self.ended.append((key, one))

    def _due(self) -> list[tuple[Key, Sent]]:
        """Rows of the present database that have news; rows of another one, and those at rest, are let go."""
        now = time.time()
        with self.lock:
            if not self.sent and not self.ended:
                return []
            place = str(settings().database)
            for key, one in list(self.sent.items()):
                if now - one.last > REPEAT_S:
                    self._end(key, one)
            rows = [(key, one) for key, one in [*self.ended, *self.sent.items()] if key[0] == place and one.due]
            self.ended = []
            self.sent = {key: one for key, one in self.sent.items() if key[0] == place}
        return rows

    def _give_back(self, due: list[tuple[Key, Sent]]) -> None:
        with self.lock:
            self.ended += [(key, one) for key, one in due if self.sent.get(key) is not one]
            self.ended = self.ended[-MOST_WAITING:]
            for key in list(self.sent)[:-MOST_WAITING]:
                del self.sent[key]

    def _write(self, due: list[tuple[Key, Sent]]) -> None:
        try:
            self._store(due)
        except IntegrityError:  # of a host that is not in the inventory: the others are written all the same
            for key, one in due:
                try:
                    self._store([(key, one)])
                except IntegrityError:
                    one.written = sys.maxsize
        if time.monotonic() - self.pruned > PRUNE_S:
            self.pruned = time.monotonic()
            commands.prune(time.time())

    def _store(self, due: list[tuple[Key, Sent]]) -> None:
        with self.lock:
            news = [(key, replace(one)) for key, one in due]
        for (_, one), (_, copy), number in zip(due, news, commands.store(news), strict=True):
            one.row, one.written = number, copy.times


JOURNAL = Journal()
atexit.register(JOURNAL.flush)
