"""Runs the pretended vLLM on a port of its own choice, for the length of a with-block."""

import shlex
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts" / "fake"))
import vllm_server  # type: ignore[import-not-found]


@contextmanager
def pretended(misfortunes: str = "", *words: str, key: str | None = None) -> Iterator[str]:
    """The base URL of a pretended server that serves "smol"; it answers over a real socket, from a thread."""
    more = ["--api-key", key] if key else []
    asked = vllm_server.serve_words(["/m/smol", "--served-model-name", "smol", "--port", "0", *more, *words])
    server = vllm_server.Server(asked, vllm_server.misfortunes(shlex.split(misfortunes)))
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
