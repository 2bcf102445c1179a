"""The schema as a list of changes: each function brings the file from one version to the next."""

import sqlite3
from collections.abc import Callable
from pathlib import Path


class SchemaTooNew(Exception):
    """The file was written by a newer console; this one must not touch it."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(f"{path} has schema version {found}; this console knows versions up to {known}")
        self.path, self.found, self.known = path, found, known


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Apply what is missing, each change in a transaction of its own together with its version number."""
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > len(CHANGES):
        raise SchemaTooNew(path, found, len(CHANGES))
    for version, change in enumerate(CHANGES[found:], start=found + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            change(connection)
            connection.execute(f"PRAGMA user_version = {version}")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _run(connection: sqlite3.Connection, statements: str) -> None:
    """Like executescript, which would commit the open transaction."""
    for statement in statements.split(";"):
        if statement.strip():
            connection.execute(statement)


def _hosts_jobs_events(connection: sqlite3.Connection) -> None:
    _run(
        connection,
        """
        CREATE TABLE host (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, work_folder TEXT NOT NULL,
            created REAL NOT NULL);
        CREATE TABLE probe (
            id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES host(id) ON DELETE CASCADE,
            actor TEXT NOT NULL, started REAL NOT NULL, ended REAL NOT NULL);
        CREATE TABLE observation (
            id INTEGER PRIMARY KEY, probe_id INTEGER NOT NULL REFERENCES probe(id) ON DELETE CASCADE,
            name TEXT NOT NULL, text TEXT NOT NULL, code INTEGER, seconds REAL, timed_out INTEGER NOT NULL);
        CREATE INDEX observation_probe ON observation(probe_id);
        CREATE TABLE job (
            id INTEGER PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL,
            host_id INTEGER NOT NULL REFERENCES host(id), title TEXT NOT NULL, state TEXT NOT NULL,
            attempt INTEGER NOT NULL, actor TEXT NOT NULL, journey INTEGER, "then" TEXT NOT NULL,
            created REAL NOT NULL, started REAL, ended REAL, reason TEXT, question TEXT, answer TEXT,
            cancel_wanted INTEGER NOT NULL DEFAULT 0);
        CREATE UNIQUE INDEX job_one_active ON job(subject) WHERE state IN ('queued', 'running', 'waiting');
        CREATE TABLE step (
            id INTEGER PRIMARY KEY, job_id INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
            number INTEGER NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, state TEXT NOT NULL,
            attempt INTEGER NOT NULL, started REAL, ended REAL, code INTEGER, reason TEXT, UNIQUE (job_id, number));
        CREATE TABLE event (
            id INTEGER PRIMARY KEY, time REAL NOT NULL, actor TEXT NOT NULL, subject TEXT NOT NULL,
            was TEXT, became TEXT NOT NULL, reason TEXT);
        CREATE INDEX event_subject ON event(subject, time);
        """,
    )


def _instances(connection: sqlite3.Connection) -> None:
    _run(
        connection,
        """
        CREATE TABLE instance (
            id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES host(id), name TEXT NOT NULL UNIQUE,
            backend TEXT NOT NULL, spec TEXT NOT NULL, noise INTEGER NOT NULL, wish TEXT NOT NULL, state TEXT NOT NULL,
            reason TEXT, attempt INTEGER NOT NULL, health TEXT NOT NULL, created REAL NOT NULL, observed REAL);
        CREATE TABLE attempt (
            instance_id INTEGER NOT NULL REFERENCES instance(id) ON DELETE CASCADE, number INTEGER NOT NULL,
            actor TEXT NOT NULL, command TEXT NOT NULL, folder TEXT NOT NULL, started REAL NOT NULL, ready REAL,
            ended REAL, code INTEGER, PRIMARY KEY (instance_id, number));
        CREATE TABLE model_folder (
            id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES host(id) ON DELETE CASCADE,
            folder TEXT NOT NULL, actor TEXT NOT NULL, added REAL NOT NULL, UNIQUE (host_id, folder));
        """,
    )


def _conversations_and_runs(connection: sqlite3.Connection) -> None:
    _run(
        connection,
        """
        CREATE TABLE conversation (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, instance_id INTEGER REFERENCES instance(id) ON DELETE SET NULL,
            settings TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL);
        CREATE TABLE message (
            id INTEGER PRIMARY KEY, conversation_id INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
            role TEXT NOT NULL, text TEXT NOT NULL, reasoning TEXT NOT NULL, figures TEXT NOT NULL,
            created REAL NOT NULL);
        CREATE INDEX message_conversation ON message(conversation_id, id);
        CREATE TABLE run (
            id INTEGER PRIMARY KEY, instance_id INTEGER REFERENCES instance(id) ON DELETE SET NULL,
            host_id INTEGER NOT NULL REFERENCES host(id), kind TEXT NOT NULL, model TEXT NOT NULL,
            spec TEXT NOT NULL, results TEXT NOT NULL, started REAL NOT NULL, ended REAL NOT NULL);
        """,
    )


def _hosts_over_ssh(connection: sqlite3.Connection) -> None:
    """`reach` is JSON, null for the local machine; a removed host keeps its row for the history that names it."""
    _run(
        connection,
        """
        ALTER TABLE host ADD COLUMN reach TEXT;
        ALTER TABLE host ADD COLUMN tags TEXT NOT NULL DEFAULT '';
        ALTER TABLE host ADD COLUMN removed REAL;
        """,
    )


def _checklists_and_commands(connection: sqlite3.Connection) -> None:
    """`scenario` marks a host that is simulated; `waiver.ended` is null while it holds; a command that is repeated
    without a change (as a watcher does) is one row that counts."""
    _run(
        connection,
        """
        ALTER TABLE host ADD COLUMN scenario TEXT;
        CREATE TABLE waiver (
            id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES host(id) ON DELETE CASCADE,
            check_name TEXT NOT NULL, reason TEXT NOT NULL, name TEXT NOT NULL, actor TEXT NOT NULL,
            made REAL NOT NULL, ended REAL);
        CREATE UNIQUE INDEX waiver_one_holds ON waiver(host_id, check_name) WHERE ended IS NULL;
        CREATE TABLE profile (
            id TEXT PRIMARY KEY, body TEXT NOT NULL, actor TEXT NOT NULL, made REAL NOT NULL, edited REAL NOT NULL);
        CREATE TABLE command (
            id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES host(id) ON DELETE CASCADE,
            "where" TEXT NOT NULL, actor TEXT NOT NULL, script TEXT NOT NULL, times INTEGER NOT NULL,
            first REAL NOT NULL, last REAL NOT NULL, code INTEGER, error TEXT, seconds REAL NOT NULL);
        CREATE INDEX command_host ON command(host_id, last);
        """,
    )


CHANGES: list[Callable[[sqlite3.Connection], None]] = [
    _hosts_jobs_events,
    _instances,
    _conversations_and_runs,
    _hosts_over_ssh,
    _checklists_and_commands,
]
"""Append only: a change that was released is never edited."""
