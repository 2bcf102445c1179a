"""Passwords for sudo and for logging in: they live in the worker's memory, handed over a socket of its user alone.

They are never in arguments, environment, scripts, files or the database. A worker that ends forgets them; the next one
puts the job that needs one to *waiting*. The other processes of the console ask the worker for the password of a login
whenever they log in, and keep it only as long as that connection stands; the one for sudo never leaves the worker.
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
from console.hosts import reach as reaches
from console.hosts.keys import Password
from console.hosts.reach import Reach
from console.settings import settings
from console.text import say

ANSWER_S = 5.0
MOST_BYTES = 10_000
TICK_S = 0.5
NAME = "secrets"
COMING = "secrets.new"
"""The socket until it listens."""


class Held:
    """The passwords this process knows; safe for many threads.

    Those for sudo by the number of the host, those for logging in by the way there (`way_of`).
    """

    def __init__(self) -> None:
        self._known: dict[int | str, Password] = {}
        self._lock = threading.Lock()

    def give(self, whose: int | str, password: Password) -> None:
        with self._lock:
            self._known[whose] = password

    def get(self, whose: int | str) -> Password | None:
        with self._lock:
            return self._known.get(whose)

    def forget(self, whose: int | str) -> None:
        with self._lock:
            self._known.pop(whose, None)

    def hosts(self) -> list[int]:
        with self._lock:
            return sorted(one for one in self._known if isinstance(one, int))

    def logins(self) -> list[str]:
        with self._lock:
            return sorted(one for one in self._known if isinstance(one, str))


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
    return frozenset(int(str(one)) for one in _listed("hosts"))


def way_of(reach: Reach) -> str:
    """By what the password of a login is kept: it must never go to another server, user or network."""
    return reaches.way(reach.hops)


def give_login(reach: Reach, password: Password) -> None:
    """Hand the worker the password that logs in there. DataError when no worker takes it."""
    _asked({"do": "give", "login": way_of(reach), "password": password.reveal()})


def forget_login(reach: Reach) -> None:
    """Let the worker forget it; connections that stand already stay."""
    _asked({"do": "forget", "login": way_of(reach)})


def logins() -> frozenset[str]:
    """The ways (`way_of`) whose password the worker knows; none while no worker lives."""
    return frozenset(str(one) for one in _listed("logins"))


class Login:
    """The password that logs in on a host, as the worker knows it now. Satisfies keys.Passwords."""

    def __init__(self, reach: Reach) -> None:
        self.way = way_of(reach)

    def get(self) -> Password | None:
        if (own := HELD.get(self.way)) is not None:
            return own
        with contextlib.suppress(DataError):
            found = _asked({"do": "take", "login": self.way}).get("password")
            return Password(found) if isinstance(found, str) else None
        return None

    def wrong(self) -> None:
        HELD.forget(self.way)
        with contextlib.suppress(DataError):
            _asked({"do": "forget", "login": self.way})


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
    answer: dict[str, object] = {}
    if asked["do"] == "give":
        held.give(_whose(asked), Password(str(asked["password"])))
    elif asked["do"] == "forget":
        held.forget(_whose(asked))
    elif asked["do"] == "take" and (known := held.get(str(asked["login"]))) is not None:
        answer["password"] = known.reveal()
    return {"hosts": held.hosts(), "logins": held.logins(), **answer}


def _whose(asked: Mapping[str, object]) -> int | str:
    return str(asked["login"]) if "login" in asked else int(str(asked["host"]))


def _listed(what: str) -> list[object]:
    try:
        found = _asked({"do": "known"}).get(what)
    except DataError:
        return []
    return found if isinstance(found, list) else []


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
