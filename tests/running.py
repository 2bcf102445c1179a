"""A whole console as a person starts it: web server, worker and engines as processes, in a data folder of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from console import records
from console.settings import DATA_VARIABLE, settings

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_S = 120
"""For what takes a moment on a quiet machine; the tests may share theirs with others."""


def until(condition: Callable[[], object], limit_s: float = PATIENCE_S, what: str = "it") -> None:
    """Wait for something that other processes bring about."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come about within {limit_s} s"
        time.sleep(0.2)


@contextmanager
def opened(folder: Path) -> Iterator[None]:
    """This process works on the data folder too, as a verb of `pilot` would."""
    before = os.environ.get(DATA_VARIABLE)
    os.environ[DATA_VARIABLE] = str(folder)
    forget()
    try:
        yield
    finally:
        if records.engine.cache_info().currsize:
            records.engine().dispose()
        forget()
        if before is None:
            del os.environ[DATA_VARIABLE]
        else:
            os.environ[DATA_VARIABLE] = before


def forget() -> None:
    """What this process remembers of a data folder."""
    settings.cache_clear()
    records.engine.cache_clear()


class RunningConsole:
    """`pilot up` on a free port, with everything that it starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def link(self) -> str:
        return f"{self.address}/?token={(self.folder / 'token').read_text().strip()}"

    @property
    def worker(self) -> int:
        """Process id of the worker that lives; 0 when none does."""
        try:
            said = json.loads((self.folder / "worker.lock").read_text())
        except (OSError, ValueError):
            return 0
        return int(said["pid"]) if alive(int(said["pid"])) else 0

    def start(self, **environment: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "up.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*pilot("up"), "--no-browser", "--port", str(self.port), "--data", str(self.folder)],
                cwd=ROOT,
                env={**os.environ, **environment},
                stdout=log,
                stderr=log,
            )
        until(lambda: answers(self.address), what=f"an answer of {self.address}")

    def kill_web(self, number: signal.Signals = signal.SIGKILL) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait(timeout=PATIENCE_S)
        self.process = None

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """A verb of `pilot` on this data folder."""
        command = [*pilot(*words), "--data", str(self.folder)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    def close(self) -> None:
        """End everything, also what a failed test left behind."""
        if self.process is not None:
            self.kill_web(signal.SIGTERM)
        until(lambda: not self._killed(), what="the end of every process")

    def _killed(self) -> list[int]:
        """Those that were there to be killed."""
        found = processes(self.folder)
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return found


def pilot(*words: str) -> list[str]:
    return [sys.executable, "-m", "console", *words]


def free_port(address: str = "127.0.0.1") -> int:
    with socket.socket() as free:
        free.bind((address, 0))
        return int(free.getsockname()[1])


def answers(address: str) -> bool:
    """Whether a web server answers there, be it with a refusal."""
    try:
        urllib.request.urlopen(address, timeout=10).close()
    except urllib.error.HTTPError as refusal:
        refusal.close()
    except OSError:
        return False
    return True


def alive(pid: int) -> bool:
    """A process that is not merely waiting to be collected by its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def processes(folder: Path) -> list[int]:
    """Every living process that was started for this data folder: by its words, its environment or its session."""
    leaders = {path.read_text().split()[0] for path in folder.glob("*/*/*/pid")}
    return [pid for pid in living() if session(pid) in leaders or _names(pid, os.fsencode(str(folder)))]


def session_of(attempt: Path) -> list[int]:
    """Every living process of the session that a detached command began, by the command's folder."""
    leader = (attempt / "pid").read_text().split()[0]
    return [pid for pid in living() if session(pid) == leader]


def living() -> list[int]:
    """Every process but this one."""
    found = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
    return [pid for pid in found if pid != os.getpid() and alive(pid)]


def session(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[3]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _names(pid: int, folder: bytes) -> bool:
    try:
        return any(folder in Path(f"/proc/{pid}/{what}").read_bytes() for what in ("cmdline", "environ"))
    except OSError:
        return False
