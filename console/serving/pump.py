"""A streamed answer read in a thread of its own, so that whoever shows it is free while the engine is silent."""

import queue
import threading
import time
from collections.abc import Generator

from console.serving.reply import Chunk
from console.serving.stream import Stream, joined

TICK_S, BATCH_S = 0.25, 0.05
LEAVE_S = 2.0
"""How long the end of the reading thread is waited for; its connection is cut by then."""

Came = queue.SimpleQueue[Chunk | Exception | None]
"""What the reading thread hands over; None or an error is the last."""


def ticking(stream: Stream, every_s: float = TICK_S) -> Generator[Chunk | None, None, None]:
    """The chunks, joined to at most one per BATCH_S, and None whenever nothing came for `every_s`.

    Closing it ends the request at once. The errors of the stream are raised here; nobody else may touch the stream
    until this has ended.
    """
    came: Came = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(stream, came), name="answer", daemon=True)
    reader.start()
    waiting: list[Chunk] = []
    shown = float("-inf")
    try:
        while True:
            try:
                one = came.get(timeout=max(0.0, shown + BATCH_S - time.monotonic()) if waiting else every_s)
            except queue.Empty:
                yield joined(waiting) if waiting else None
                waiting, shown = [], time.monotonic()
                continue
            if isinstance(one, Chunk):
                waiting.append(one)
                continue
            if waiting:
                yield joined(waiting)
            if one is not None:
                raise one
            return
    finally:
        stream.cut()
        reader.join(LEAVE_S)


def _read(stream: Stream, came: Came) -> None:
    try:
        for chunk in stream:
            came.put(chunk)
        came.put(None)
    except Exception as error:
        came.put(error)
