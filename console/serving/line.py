"""The connection below one request, which another thread may cut while nothing comes."""

import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

CONNECTED = "connection.connect_tcp.complete"


class Line:
    """Learns its socket from httpx: from the trace of a new connection, or from the answer on one that was kept."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._is_cut = False

    def trace(self, name: str, info: Mapping[str, Any]) -> None:
        """For the extension "trace" of a request."""
        if name == CONNECTED:
            self.take(info.get("return_value"))

    def take(self, stream: Any) -> None:
        """`stream` is a network stream of httpcore; None where there is no network below."""
        found = None if stream is None else stream.get_extra_info("socket")
        if isinstance(found, socket.socket):
            self._socket = found
            self._shut()

    def cut(self) -> None:
        """Whoever reads from it sees its end at once; a connection that is still to come is cut when it comes."""
        self._is_cut = True
        self._shut()

    def _shut(self) -> None:
        if self._is_cut and self._socket is not None:
            with suppress(OSError):  # closing alone would not wake the thread that reads
                self._socket.shutdown(socket.SHUT_RDWR)
