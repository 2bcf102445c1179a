"""Scrapes in a SQLite file of their own, so that the worker's steady writing stays out of the console's rows.

Raw values are kept and every figure is derived on read. One process writes, any number read.
"""

import math
import sqlite3
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from console.errors import DataError
from console.metrics.scrape import Scrape
from console.metrics.stored import StoredScrape, body_of
from console.text import Text, say, verbatim

BUSY_S = 5.0
PRUNED_AT_ONCE = 500


def _first_tables(file: sqlite3.Connection) -> None:
    # Clustered by instance, then time: a chart reads one stretch of the file, and a row needs no second index.
    file.execute(
        "CREATE TABLE scrape (instance INTEGER NOT NULL, time REAL NOT NULL, attempt INTEGER NOT NULL,"
        " body TEXT NOT NULL, PRIMARY KEY (instance, time)) WITHOUT ROWID"
    )


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_first_tables,)
"""Applied in order; the file's `user_version` is how many it has seen."""


class Samples:
    """The samples file at `path`, created when it is not there. Every method may raise DataError. One thread each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._translated():
            self._file = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
            try:
                _use_wal(self._file)
                self._file.execute("PRAGMA synchronous = NORMAL")
                self._migrate()
            except BaseException:
                self._file.close()
                raise

    def append(self, instance: int, time: float, attempt: int, scrape: Scrape) -> None:
        """Keep `scrape` taken at `time` (Unix seconds) in the instance's start number `attempt`."""
        row = (instance, time, attempt, body_of(scrape))
        with self._translated():
            self._file.execute("INSERT OR REPLACE INTO scrape VALUES (?, ?, ?, ?)", row)

    def between(self, instance: int, start: float, end: float, spacing: float = 0) -> list[StoredScrape]:
        """Scrapes with start <= time <= end, oldest first.

        With `spacing` (seconds) only the last scrape of each whole stretch of that length, stretches counted from the
        Unix epoch: long spans are thinned without reading what lies between, and two reads agree where they overlap.
        """
        if spacing <= 0:
            return self._read("time BETWEEN ? AND ? ORDER BY time", instance, start, end)
        found: list[StoredScrape] = []
        for stretch in range(math.ceil(start / spacing), int(end // spacing)):
            borders = (stretch * spacing, (stretch + 1) * spacing)
            found += self._read("time >= ? AND time < ? ORDER BY time DESC LIMIT 1", instance, *borders)
        return found

    def last(self, instance: int) -> StoredScrape | None:
        """The newest scrape of `instance`."""
        return next(iter(self._read("1 ORDER BY time DESC LIMIT 1", instance)), None)

    def prune(self, before: float) -> int:
        """Forget what is older than `before` (Unix seconds) and say how many rows that were.

        A few hundred rows at a time, so that no reader and no scrape ever waits for long.
        """
        forgotten = 0
        for instance in self._instances():
            while deleted := self._delete_some(instance, before):
                forgotten += deleted
        return forgotten

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _read(self, where: str, instance: int, *values: float) -> list[StoredScrape]:
        question = f"SELECT time, attempt, body FROM scrape WHERE instance = ? AND {where}"
        with self._translated():
            return [StoredScrape(*row) for row in self._file.execute(question, (instance, *values))]

    def _instances(self) -> list[int]:
        """Hops from one instance to the next; DISTINCT would read every row."""
        found: list[int] = []
        with self._translated():
            while True:
                after = found[-1] if found else -1
                (hop,) = self._file.execute("SELECT min(instance) FROM scrape WHERE instance > ?", (after,)).fetchone()
                if hop is None:
                    return found
                found.append(hop)

    def _delete_some(self, instance: int, before: float) -> int:
        oldest = "SELECT time FROM scrape WHERE instance = ? AND time < ? ORDER BY time LIMIT ?"
        command = f"DELETE FROM scrape WHERE instance = ? AND time IN ({oldest})"
        with self._translated():
            return self._file.execute(command, (instance, instance, before, PRUNED_AT_ONCE)).rowcount

    def _migrate(self) -> None:
        if self._version() == len(MIGRATIONS):
            return
        self._file.execute("BEGIN IMMEDIATE")  # whoever comes second waits here and then finds nothing to do
        try:
            for number in range(self._version(), len(MIGRATIONS)):
                MIGRATIONS[number](self._file)
                self._file.execute(f"PRAGMA user_version = {number + 1}")
        except BaseException:
            self._file.execute("ROLLBACK")
            raise
        self._file.execute("COMMIT")

    def _version(self) -> int:
        (version,) = self._file.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise DataError(
                say(
                    "The samples file {path} was written by a newer console. Start that one, or move the file away: "
                    "only the history of latency and throughput is lost.",
                    path=verbatim(str(self.path)),
                )
            )
        return int(version)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise DataError(_sentence(error, self.path)) from error


def _use_wal(file: sqlite3.Connection) -> None:
    """The move to WAL needs the file for itself and does not wait for it: try again until the busy time is over."""
    deadline = clock.monotonic() + BUSY_S
    while True:
        try:
            if file.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                file.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or clock.monotonic() > deadline:
                raise
            clock.sleep(0.02)


def _sentence(error: sqlite3.Error, path: Path) -> Text:
    where = verbatim(str(path))
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return say("The disk is full: nothing can be written to {path}. Free some space there.", path=where)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return say("Another program has kept {path} locked for {s} seconds. Close it.", path=where, s=int(BUSY_S))
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return say(
            "{path} is damaged. Stop the console and move the file away: only the history of latency and throughput "
            "is lost.",
            path=where,
        )
    reason = verbatim(str(error))
    return say(
        "The samples file {path} cannot be used: {reason}. Check its folder and rights.", path=where, reason=reason
    )
