"""Passwords for sudo: they live in the worker's memory only, handed over a Unix socket that nobody else can open.

They are never in arguments, environment, scripts, files or the database. A worker that ends forgets them; the next one
puts the job that needs one to *waiting*.
"""

import contextlib
import json
import os
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from console.errors import DataError
from console.hosts.keys import Password
from console.settings import settings
from console.text import say

ANSWER_S = 5.0
MOST_BYTES = 10_000
TICK_S = 0.5
NAME = "secrets"
COMING = "secrets.new"
"""The socket until it listens."""


class Held:
    """The passwords this process knows, by host; safe for many threads."""

    def __init__(self) -> None:
        self._known: dict[int, Password] = {}
        self._lock = threading.Lock()

    def give(self, host_id: int, password: Password) -> None:
        with self._lock:
            self._known[host_id] = password

    def get(self, host_id: int) -> Password | None:
        with self._lock:
            return self._known.get(host_id)

    def forget(self, host_id: int) -> None:
        with self._lock:
            self._known.pop(host_id, None)

    def hosts(self) -> list[int]:
        with self._lock:
            return sorted(self._known)


HELD = Held()
"""Those of the worker; empty in every other process."""


def give(host_id: int, password: Password) -> None:
    """Hand the worker the password with which sudo works on this host. DataError when no worker takes it."""
    _asked({"do": "give", "host": host_id, "password": password.reveal()})


def forget(host_id: int) -> None:
    """Let the worker forget it."""
    _asked({"do": "forget", "host": host_id})


def known() -> frozenset[int]:
    """The hosts whose password the worker knows; none while no worker lives."""
    try:
        found = _asked({"do": "known"}).get("hosts")
    except DataError:
        return frozenset()
    return frozenset(int(one) for one in found) if isinstance(found, list) else frozenset()


def serve(stop: threading.Event, held: Held = HELD) -> None:
    """Take passwords until `stop` is set. Only the worker does this, which is alone by its lock."""
    folder = settings().worker_folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _short(folder, COMING) as place, socket.socket(socket.AF_UNIX) as listener:
        for left in (NAME, COMING):
            (folder / left).unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            listener.bind(place)
        finally:
            os.umask(before)
        listener.listen(8)
        (folder / COMING).replace(folder / NAME)  # whoever sees it is answered
        listener.settimeout(TICK_S)
        while not stop.is_set():
            with contextlib.suppress(TimeoutError), contextlib.ExitStack() as stack:
                client = stack.enter_context(listener.accept()[0])
                client.settimeout(ANSWER_S)
                with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                    client.sendall(json.dumps(_answer(client, held)).encode())
        (folder / NAME).unlink(missing_ok=True)


def _answer(client: socket.socket, held: Held) -> Mapping[str, object]:
    if _user_of(client) not in (0, os.getuid()):
        return {"refused": True}
    asked = json.loads(_all(client))
    if asked["do"] == "give":
        held.give(int(asked["host"]), Password(str(asked["password"])))
    elif asked["do"] == "forget":
        held.forget(int(asked["host"]))
    return {"hosts": held.hosts()}


def _user_of(client: socket.socket) -> int:
    """Who is at the other end, as the kernel says."""
    told = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", told)[1])


def _asked(words: Mapping[str, object]) -> dict[str, object]:
    try:
        with _short(settings().worker_folder, NAME) as place, socket.socket(socket.AF_UNIX) as client:
            client.settimeout(ANSWER_S)
            client.connect(place)
            client.sendall(json.dumps(words).encode())
            client.shutdown(socket.SHUT_WR)
            answer = json.loads(_all(client))
    except (OSError, ValueError) as error:
        raise DataError(
            say("The worker does not take passwords now: {error}. Does it run? See `pilot doctor`.", error=str(error))
        ) from error
    if not isinstance(answer, dict) or "hosts" not in answer:
        raise DataError(say("The worker belongs to another user and takes no password from you."))
    return answer


def _all(client: socket.socket) -> bytes:
    found = b""
    while len(found) < MOST_BYTES and (more := client.recv(MOST_BYTES)):
        found += more
    return found


@contextlib.contextmanager
def _short(folder: Path, name: str) -> Iterator[str]:
    """An address of at most 108 bytes for the socket `name` in `folder`, however long its path is."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{opened}/{name}"
    finally:
        os.close(opened)
