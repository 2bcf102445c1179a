"""This machine as a host."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from console.errors import CommandTimeout, HostError, unreadable
from console.hosts.piece import Piece
from console.hosts.runner import Outcome, not_copied
from console.text import say


class LocalRunner:
    """Runs scripts as the user who runs the console. Satisfies Runner."""

    def run(self, script: str, *, timeout_s: float = 30, stdin: bytes = b"") -> Outcome:
        return self._finish(_begun(script), stdin, time.monotonic(), timeout_s)

    def feed(self, script: str, piece: Piece, *, timeout_s: float) -> Outcome:
        begun, process = time.monotonic(), _begun(script)
        assert process.stdin is not None
        try:
            for block in piece:
                with contextlib.suppress(BrokenPipeError):  # it ended without reading all, and says why
                    process.stdin.write(block)
                if process.poll() is not None:
                    break
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            _let_go(process)
            raise
        return self._finish(process, b"", begun, timeout_s)

    def apart(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _finish(self, process: subprocess.Popen[bytes], stdin: bytes, begun: float, timeout_s: float) -> Outcome:
        try:
            out, err = process.communicate(stdin, timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            _let_go(process)
            raise CommandTimeout(
                say("A command on this machine took longer than {limit} s and was ended.", limit=round(timeout_s))
            ) from error
        return Outcome(process.returncode, _text(out), _text(err), time.monotonic() - begun)

    def put(self, source: Path, target: str, *, timeout_s: float = 600) -> None:
        """A copy on one machine needs no time limit of its own: `timeout_s` is that of hosts far away."""
        part = Path(f"{target}.part")
        try:
            given = source.open("rb")
        except OSError as error:
            raise unreadable(source, error) from error
        try:
            with given:
                part.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as taken:
                    shutil.copyfileobj(given, taken)
            part.chmod(0o600)
            part.replace(target)
        except OSError as error:
            raise not_copied(source, target, say("this machine"), error.strerror or str(error)) from error

    def address(self, port: int) -> str:
        return f"127.0.0.1:{port}"


def _begun(script: str) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            ["sh", "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
        )
    except OSError as error:
        raise HostError(
            say(
                "A command could not be started on this machine: {error}. Is it out of memory or processes?",
                error=str(error),
            )
        ) from error


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Collect a killed process without waiting for a child that left its session and still holds the pipes."""
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", errors="replace")
