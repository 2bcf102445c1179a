"""Locks on files, which the system gives back when their process dies, however it dies."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def held(path: Path) -> bool:
    """Whether a process holds the lock of this file now; a file that is not there is held by nobody."""
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of this file, which is made when it is not there; waits for whoever has it."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
