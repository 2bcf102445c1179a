"""Keeping a worker alive beside the web server: starting it in a session of its own, replacing old or hanging ones."""

import contextlib
import os
import shlex
import signal
import sys
import threading
import time
from pathlib import Path

import console
from console.errors import DataError
from console.hosts.local import LocalRunner
from console.jobs import history
from console.jobs.worker import beat, fingerprint, held
from console.serving.watch import watched
from console.settings import DATA_VARIABLE, settings
from console.text import say

WATCH_S = 1.0
COME_UP_S = 20.0


def ensure_worker(*, of_this_code: bool = True) -> None:
    """Returns once this data folder has a living worker, by default one of the present code. DataError otherwise."""
    known = beat()
    if held() and known is not None and (not known.alive or (of_this_code and known.code != fingerprint())):
        _end(known.pid)
    if not held():
        _start()
    deadline = time.monotonic() + COME_UP_S
    while not (held() and (known := beat()) is not None and known.alive):
        if time.monotonic() > deadline:
            raise DataError(
                say(
                    "The worker did not start within {seconds} s. The end of its log, {path}, says why.",
                    seconds=round(COME_UP_S),
                    path=str(_log()),
                )
            )
        time.sleep(0.05)


def keep_worker(stop: threading.Event) -> None:
    """Start or replace the worker, then look every second whether one lives. Until `stop` is set."""
    of_this_code = True
    while True:
        try:
            ensure_worker(of_this_code=of_this_code)
            of_this_code = False  # the code may be updated under a running console
        except DataError as error:
            print(error, file=sys.stderr)
        if stop.wait(WATCH_S):
            return


def end_worker() -> bool:
    """Tell the worker to let go and end; False when there is none."""
    known = beat()
    if not held() or known is None:
        return False
    _end(known.pid)
    return True


def end_idle_worker() -> bool:
    """End the worker if there is nothing for it to do; false when jobs or instances need it."""
    if history.active_count() or watched():
        return False
    end_worker()
    return True


def _log() -> Path:
    return settings().worker_folder / "log"


def _start() -> None:
    settings().worker_folder.mkdir(parents=True, exist_ok=True)
    root = Path(console.__file__).parent.parent
    words = [sys.executable, "-m", "console", "worker"]
    command = " ".join(shlex.quote(word) for word in words)
    LocalRunner().run(
        f"cd {shlex.quote(str(root))} && {DATA_VARIABLE}={shlex.quote(str(settings().data))} "
        f"setsid nohup {command} >> {shlex.quote(str(_log()))} 2>&1 < /dev/null &"
    )


def _end(pid: int) -> None:
    """TERM, ten seconds, then KILL: jobs and engines are processes of their own and live on."""
    deadline = time.monotonic() + 10
    _signal(pid, signal.SIGTERM)
    while held() and time.monotonic() < deadline:
        time.sleep(0.05)
    if held():
        _signal(pid, signal.SIGKILL)
        while held() and time.monotonic() < deadline + 5:
            time.sleep(0.05)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
