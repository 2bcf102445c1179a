"""A process that sends files to one host over a connection of its own, beside the process that orders it to.

    python -m console.hosts.carrier

Every line of its standard input and output is a JSON object. It is told the way to the host, and says that it is ready;
then each order is a script to run there, with a file or without, which it answers with how far the file is, and at last
with the outcome or the error. It ends at once when its input ends, so it never outlives whoever ordered it.
"""

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from console.errors import ConsoleError
from console.hosts import reach as reaches
from console.hosts.connection import Connection
from console.hosts.keys import Password
from console.hosts.piece import Piece
from console.hosts.secrets import Login
from console.hosts.ssh import SshRunner
from console.text import to_json

TELL_S = 0.2


def main() -> None:
    with os.fdopen(os.dup(1), "w", encoding="ascii") as answers:
        os.dup2(2, 1)  # whatever else is printed is no answer
        orders: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(orders,), daemon=True).start()
        reach = reaches.from_json(orders.get())
        with Connection(reach, _SameLogin(reach)) as own:
            runner = SshRunner(own)
            _answer(answers, lambda: _log_in(own))
            while True:
                _answer(answers, lambda: _obey(runner, json.loads(orders.get()), answers))


class _SameLogin:
    """The password of the first login, which is not wrong for being refused the second time. Satisfies Passwords."""

    def __init__(self, reach: reaches.Reach) -> None:
        self.login = Login(reach)

    def get(self) -> Password | None:
        return self.login.get()

    def wrong(self) -> None:
        """The worker keeps it."""


def _listen(orders: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        orders.put(line)
    os._exit(0)  # whoever ordered it is gone, or wants it gone: the main thread may be in the middle of a file


def _log_in(own: Connection) -> dict[str, object]:
    own.transport()
    return {"ready": True}


def _obey(runner: SshRunner, order: dict[str, str | int | float], answers: TextIO) -> dict[str, object]:
    script, limit = str(order["script"]), float(order["timeout_s"])
    if "source" not in order:
        outcome = runner.run(script, timeout_s=limit)
    else:
        told = time.monotonic()

        def tell(at: int) -> None:
            nonlocal told
            if time.monotonic() - told > TELL_S:
                told = time.monotonic()
                _say(answers, {"at": at})

        piece = Piece(Path(str(order["source"])), int(order["at"]), told=tell)
        outcome = runner.feed(script, piece, timeout_s=limit)
        _say(answers, {"at": piece.at})
    return {"code": outcome.code, "out": outcome.out, "err": outcome.err, "seconds": outcome.seconds}


def _answer(answers: TextIO, act: Callable[[], dict[str, object]]) -> None:
    try:
        said = act()
    except ConsoleError as error:
        said = {"error": type(error).__name__, "text": to_json(error.text)}
    _say(answers, said)


def _say(answers: TextIO, words: dict[str, object]) -> None:
    print(json.dumps(words), file=answers, flush=True)


if __name__ == "__main__":
    main()
