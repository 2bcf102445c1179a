"""Sending files to a host from a second process: one process of Python sends no faster than one processor encrypts."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import console
from console.errors import CommandTimeout, HostError, InvalidInput, Unreachable
from console.hosts.piece import Piece
from console.hosts.reach import Reach
from console.hosts.runner import Outcome
from console.settings import DATA_VARIABLE, settings
from console.text import from_json, say

KINDS: dict[str, type[HostError | InvalidInput]] = {
    one.__name__: one for one in (Unreachable, CommandTimeout, InvalidInput)
}
"""The errors a caller acts upon; of the others only the text is of interest."""
REFUSED: set[Reach] = set()
"""Where a second login was refused: not tried again in this process, for some hosts lock out who is refused often."""


class Apart:
    """A running `console.hosts.carrier`, for one thread. Satisfies Second."""

    def __init__(self, reach: Reach, process: "subprocess.Popen[str]") -> None:
        self.reach, self.process = reach, process
        self._tell(reach.to_json())

    def ready(self) -> None:
        try:
            self._heard()
        except HostError:
            if self.process.poll() is None:  # else it was ended, which says nothing of the host
                REFUSED.add(self.reach)
            raise

    def run(self, script: str, *, timeout_s: float = 30) -> Outcome:
        self._tell(json.dumps({"script": script, "timeout_s": timeout_s}))
        return _outcome(self._heard())

    def feed(self, script: str, piece: Piece, *, timeout_s: float) -> Outcome:
        """Only the file's place, and from where on, goes over; it is read there, and `piece.pace` stays here."""
        source = str(piece.source.absolute())
        self._tell(json.dumps({"script": script, "source": source, "at": piece.at, "timeout_s": timeout_s}))
        while "at" in (heard := self._heard()):
            piece.went(int(heard["at"]))
        return _outcome(heard)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # what it was told last may still be on its way to nobody
                assert pipe is not None
                pipe.close()

    def _tell(self, line: str) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # it has ended: that is heard next
            print(line, file=self.process.stdin, flush=True)

    def _heard(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        while (line := self.process.stdout.readline()).endswith("\n") and not line.startswith("{"):
            pass  # what a Python that was set up to greet prints before ours does
        if not line.endswith("\n"):
            raise Unreachable(
                say(
                    "The process that sends files to {where} beside this one ended unexpectedly (exit code {code}). "
                    "What has arrived is kept: send it again.",
                    where=str(self.reach),
                    code=self.process.wait(),
                )
            )
        heard: dict[str, Any] = json.loads(line)
        if "error" in heard:
            raise KINDS.get(heard["error"], HostError)(from_json(heard["text"]))
        return heard


def _outcome(heard: dict[str, Any]) -> Outcome:
    return Outcome(int(heard["code"]), str(heard["out"]), str(heard["err"]), float(heard["seconds"]))


@contextmanager
def beside(reach: Reach) -> Iterator[Apart]:
    """Such a process, which begins to log in; it is gone afterwards. HostError when it cannot be started."""
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "console.hosts.carrier"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="ascii",
            errors="replace",
            cwd=Path(console.__file__).parent.parent,
            env={**os.environ, DATA_VARIABLE: str(settings().data)},
            start_new_session=True,  # Ctrl-C is for whoever ordered it
        )
    except OSError as error:
        raise HostError(say("A process of Python could not be started: {error}", error=str(error))) from error
    one = Apart(reach, process)
    try:
        yield one
    finally:
        one.close()
