"""A process that sends files to one host over a connection of its own, beside the process that orders it to.

    python -m console.hosts.carrier

Every line of its standard input and output is a JSON object. It is told the way to the host, and says that it is ready;
then each order is a file to send, which it answers with how far it is, and at last with the outcome or the error. It
ends at once when its input ends, so it never outlives whoever ordered it.
"""

import json
import os
import queue
import sys
import threading
import time
from pathlib import Path

from console.errors import ConsoleError
from console.hosts import reach as reaches
from console.hosts.connection import Connection
from console.hosts.piece import Piece
from console.hosts.secrets import Login
from console.hosts.ssh import SshRunner
from console.text import to_json

TELL_S = 0.2


def main() -> None:
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    reach = reaches.from_json(orders.get())
    with Connection(reach, Login(reach)) as own:
        runner = SshRunner(own)
        try:
            own.transport()
            _say(ready=True)
        except ConsoleError as error:
            _fail(error)
            return
        while True:
            try:
                _send(runner, json.loads(orders.get()))
            except ConsoleError as error:
                _fail(error)


def _listen(orders: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        orders.put(line)
    os._exit(0)  # whoever ordered it is gone, or wants it gone: the main thread may be in the middle of a file


def _send(runner: SshRunner, order: dict[str, str | int | float]) -> None:
    told = time.monotonic()

    def tell(at: int) -> None:
        nonlocal told
        if time.monotonic() - told > TELL_S:
            told = time.monotonic()
            _say(at=at)

    piece = Piece(Path(str(order["source"])), int(order["at"]), told=tell)
    outcome = runner.feed(str(order["script"]), piece, timeout_s=float(order["timeout_s"]))
    _say(at=piece.at)
    _say(code=outcome.code, out=outcome.out, err=outcome.err, seconds=outcome.seconds)


def _fail(error: ConsoleError) -> None:
    _say(error=type(error).__name__, text=to_json(error.text))


def _say(**words: object) -> None:
    print(json.dumps(words), flush=True)


if __name__ == "__main__":
    main()
