"""The web server: Streamlit's pages, the chart routes and the gate before all of them, on loopback only."""

import logging
import os
import socket
import threading
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from streamlit import App

import console
from console.errors import ConsoleError, DataError
from console.hosts import inventory
from console.jobs.supervise import keep_worker
from console.settings import settings
from console.surface.gate import Gate, token
from console.surface.link import ADDRESS
from console.surface.live_chart import routes
from console.surface.ui import marked, t
from console.text import say

ROOT = Path(console.__file__).resolve().parent.parent


def bind(port: int) -> socket.socket:
    """A listening place on loopback, taken before anything is started. Raises DataError when it is in use."""
    place = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        place.bind((ADDRESS, port))
        place.listen(100)  # now, so that nobody else can take it before the server runs
    except OSError as error:
        place.close()
        raise DataError(
            say(
                "Port {port} of this machine cannot be used: {error}. Choose another with --port.",
                port=port,
                error=error.strerror or str(error),
            )
        ) from error
    return place


def application(port: int) -> App:
    """The whole console as one ASGI application."""

    @asynccontextmanager
    async def lifespan(_app: App) -> AsyncIterator[dict[str, Any] | None]:
        stop = threading.Event()
        watcher = threading.Thread(target=keep_worker, args=(stop,), daemon=True)
        watcher.start()
        yield None
        stop.set()

    return App(
        ROOT / "pages" / "app.py",
        lifespan=lifespan,
        routes=routes(lambda: settings().samples),
        middleware=[Middleware(Gate, secret=token(settings().token), port=port)],
        on_script_error=show_failure,
    )


def show_failure(error: Exception) -> bool:
    """Our own words in place of Streamlit's, whose box offers to ask strangers on the internet."""
    if isinstance(error, ConsoleError):
        st.error(marked(error.text), icon=":material/error:")
    else:
        traceback.print_exception(error)
        st.error(
            t(
                "This page could not be shown ({kind}). Nothing was changed by that. The terminal on which the console "
                "was started has the details; reload the page to try again.",
                kind=type(error).__name__,
            ),
            icon=":material/error:",
        )
    return True


def serve(place: socket.socket, port: int) -> None:
    """Blocks until the server is told to end. The database is ready before the first page; the worker comes beside."""
    inventory.this_machine()
    os.chdir(ROOT)  # Streamlit looks for .streamlit/config.toml here
    configuration = uvicorn.Config(
        application(port),
        log_level="warning",
        access_log=False,
        ws="websockets-sansio",
        timeout_graceful_shutdown=2,
    )
    logging.getLogger("uvicorn.access").disabled = True  # Streamlit would print every request, the token in it too
    uvicorn.Server(configuration).run(sockets=[place])
