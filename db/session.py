"""Short transactions: everything inside `with session(engine)` is stored together or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.orm import Session


@contextmanager
def reading(engine: Engine) -> Iterator[Session]:
    """Rows stay usable after the block; nothing is written."""
    with Session(engine, expire_on_commit=False) as session:
        yield session


@contextmanager
def writing(engine: Engine) -> Iterator[Session]:
    """Takes SQLite's write lock at once, so that read-then-write inside the block cannot be overtaken."""
    with Session(engine, expire_on_commit=False) as session, session.begin():
        session.connection().exec_driver_sql("BEGIN IMMEDIATE")
        yield session
