"""Opens the console's SQLite file: WAL, a busy timeout, foreign keys, migrated before first use."""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection

from db.migrations import migrate

BUSY_TIMEOUT_MS = 10_000


def open_database(path: Path) -> Engine:
    """An engine for the file at `path`, created or migrated first.

    Raises SchemaTooNew when a newer console wrote the file, sqlite3.Error or OSError when it cannot be used.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path.with_suffix(".lock")):
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection, path)
        finally:
            connection.close()
    path.chmod(0o600)
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_TIMEOUT_MS / 1000})
    event.listen(engine, "connect", _prepare)
    return engine


def _prepare(connection: DBAPIConnection, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.close()


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One process at a time: four tabs that all create the tables would race."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
