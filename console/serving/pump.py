"""A streamed answer read in a thread of its own, so that whoever shows it is free while the engine is silent."""

import queue
import threading
from collections.abc import Generator

from console.errors import ConsoleError
from console.serving.reply import Chunk
from console.serving.stream import Stream, batched

TICK_S = 0.25
LEAVE_S = 2.0
"""How long the end of the reading thread is waited for; its connection is cut by then."""


def ticking(stream: Stream, every_s: float = TICK_S) -> Generator[Chunk | None, None, None]:
    """The chunks in batches, and None whenever nothing came for `every_s`. Closing it ends the request at once.

    The errors of the stream are raised here. Nobody else may touch the stream until this has ended.
    """
    came: queue.SimpleQueue[Chunk | ConsoleError | None] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(stream, came), name="answer", daemon=True)
    reader.start()
    try:
        while True:
            try:
                one = came.get(timeout=every_s)
            except queue.Empty:
                yield None
                continue
            if one is None:
                return
            if isinstance(one, ConsoleError):
                raise one
            yield one
    finally:
        stream.cut()
        reader.join(LEAVE_S)


def _read(stream: Stream, came: "queue.SimpleQueue[Chunk | ConsoleError | None]") -> None:
    try:
        for chunk in batched(stream):
            came.put(chunk)
    except ConsoleError as error:
        came.put(error)
    finally:
        came.put(None)
