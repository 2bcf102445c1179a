"""The one process that does the work: carries jobs, watches instances, and outlives the web server."""

import fcntl
import functools
import hashlib
import json
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

from sqlalchemy import select

import console
from console import file_lock
from console.errors import ConsoleError
from console.hosts import installed, inventory, rehearsal, secrets
from console.hosts.journal import unattended
from console.jobs.carry import Carry
from console.jobs.path import RECHECK
from console.jobs.states import JobState
from console.jobs.ways import way_of
from console.records import CONSOLE, reading
from console.serving.watch import Watch, watched
from console.settings import settings
from db import models

BEAT_S = 0.5
SHARES = ("check", RECHECK)
"""Kinds of job that only read, and so may run beside another on their host."""
MOST_SHARING = 32
"""How many of these run at the same time: a check of all hosts must not open a connection to each at once."""
LOOK_S = 600.0
"""How often an installed runtime is compared with its list again."""
ALIVE_S = 6.0
"""A worker whose last beat is older than this is taken for hanging."""


@dataclass(frozen=True)
class Beat:
    """What the worker says of itself. `code` is the fingerprint of the code it runs; times are Unix seconds."""

    pid: int
    started: float
    beat: float
    code: str

    @property
    def alive(self) -> bool:
        return time.time() - self.beat < ALIVE_S


class AlreadyRunning(Exception):
    """Another worker holds the lock of this data folder."""


class Worker:
    """Runs until it is told to end; then it lets go of everything, and the next worker adopts it."""

    def __init__(self) -> None:
        self.going_down = threading.Event()
        self.jobs: dict[int, threading.Thread] = {}
        self.watches: dict[int, threading.Thread] = {}
        self.started = time.time()
        self.look_at = 0.0

    def run(self) -> None:
        """Blocks. Raises AlreadyRunning when this data folder has a worker."""
        with Alone(settings().worker_lock) as file:
            unattended(CONSOLE)
            self._thread("secrets", functools.partial(secrets.serve, self.going_down))
            self._thread("rehearsal", rehearsal.bring_up)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._told)
            while not self.going_down.is_set():
                try:
                    self._beat(file)
                    self._hire()
                    self._look()
                except (ConsoleError, OSError):
                    traceback.print_exc()  # a full disk, a locked file: the next round may find it mended
                self.going_down.wait(BEAT_S)
            for thread in (*self.jobs.values(), *self.watches.values()):
                thread.join(timeout=5)

    def _told(self, _number: int, _frame: FrameType | None) -> None:
        self.going_down.set()

    def _beat(self, file: IO[str]) -> None:
        said = json.dumps({"pid": os.getpid(), "started": self.started, "beat": time.time(), "code": fingerprint()})
        file.seek(0)
        file.write(said.ljust(200) + "\n")
        file.flush()

    def _hire(self) -> None:
        self.jobs = {number: thread for number, thread in self.jobs.items() if thread.is_alive()}
        self.watches = {number: thread for number, thread in self.watches.items() if thread.is_alive()}
        for job_id in due(self.jobs):
            self.jobs[job_id] = self._thread(f"job {job_id}", Carry(job_id, self.going_down.is_set).run)
        for instance_id in watched():
            if instance_id not in self.watches:
                watch = Watch(instance_id, self.going_down)
                self.watches[instance_id] = self._thread(f"instance {instance_id}", watch.run)

    def _look(self) -> None:
        """Observe now and then what no job is about: a mark on Home rests on it."""
        if time.monotonic() < self.look_at:
            return
        self.look_at = time.monotonic() + LOOK_S
        self._thread("look", look_around)

    def _thread(self, name: str, body: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=body, name=name, daemon=True)
        thread.start()
        return thread


def look_around() -> None:
    """See whether each installed runtime is still as installed. Never raises."""
    for host in inventory.hosts():
        try:
            backend = way_of(host).backend
            if installed.runtime(host, backend) is not None:
                installed.look(host, backend)
        except (ConsoleError, OSError):
            traceback.print_exc()  # of this host; the others are looked at all the same


def due(carried: Iterable[int]) -> list[int]:
    """Jobs to take now: what a former worker left first, then one queued job for each host that has none.

    Of those that only read, MOST_SHARING run at the same time, of whichever hosts.
    """
    carried = set(carried)
    with reading() as session:
        active = select(models.Job).where(models.Job.state.in_((JobState.RUNNING, JobState.WAITING, JobState.QUEUED)))
        jobs = list(session.scalars(active.order_by(models.Job.id)))
    busy = {
        job.host_id for job in jobs if (job.state != JobState.QUEUED or job.id in carried) and job.kind not in SHARES
    }
    taken = [job.id for job in jobs if job.state != JobState.QUEUED and job.id not in carried]
    sharing = sum(job.kind in SHARES and (job.state != JobState.QUEUED or job.id in carried) for job in jobs)
    for job in jobs:
        if job.state != JobState.QUEUED or job.id in carried:
            continue
        if job.kind in SHARES:
            if sharing < MOST_SHARING:
                sharing += 1
                taken.append(job.id)
        elif job.host_id not in busy:
            busy.add(job.host_id)
            taken.append(job.id)
    return taken


def beat() -> Beat | None:
    """The last sign of life of this data folder's worker; None when there never was one."""
    try:
        said = json.loads(settings().worker_lock.read_text())
        return Beat(int(said["pid"]), float(said["started"]), float(said["beat"]), str(said["code"]))
    except (OSError, ValueError, KeyError):
        return None


def held() -> bool:
    """Whether a worker process holds this data folder now, hanging or not."""
    return file_lock.held(settings().worker_lock)


class Alone:
    """Holds the worker's lock; the system gives it back when the process dies, however it dies."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> IO[str]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+")
        for patience in range(20, -1, -1):  # who asks `held` has the lock for a moment
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not patience:
                    self.file.close()
                    raise AlreadyRunning from None
                time.sleep(0.05)
        self.file.truncate(0)
        return self.file

    def __exit__(self, *_: object) -> None:
        self.file.close()


@functools.cache
def fingerprint() -> str:
    """Tells one version of the console's code from another: a hash over its Python files, read once per process."""
    root = Path(console.__file__).parent.parent
    total = hashlib.sha256()
    for folder in ("console", "db"):
        for path in sorted((root / folder).rglob("*.py")):
            total.update(path.read_bytes())
    return total.hexdigest()[:12]
