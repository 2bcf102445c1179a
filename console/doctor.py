"""What is installed, where the data is, whether the worker lives: for the terminal when the pages do not help."""

import os
import shutil
import socket
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import console
from console.errors import ConsoleError
from console.hosts import inventory, observe
from console.jobs.jobs import say_state
from console.jobs.worker import beat, fingerprint, held
from console.records import engine
from console.serving import instances
from console.settings import settings
from console.surface.link import link
from console.text import Text, render, say, verbatim

NEEDED = ("streamlit", "sqlalchemy", "plotly", "paramiko", "httpx", "prometheus-client", "rich", "babel", "pyyaml")
LEAST_ROOM = 2**30


@dataclass(frozen=True)
class Line:
    """One finding: level "ok", "warn", "fail" or "unknown". What is private is for the owner's terminal only.

    looked   when it was seen, where that was not just now (Unix seconds)
    """

    level: str
    title: Text
    seen: Text
    fix: Text | None = None
    private: bool = False
    looked: float | None = None

    def to_json(self) -> dict[str, str | None]:
        fix = None if self.fix is None else render(self.fix, "en")
        return {"level": self.level, "title": str(self.title), "seen": str(self.seen), "fix": fix}


def examine(port: int, *, look: bool = True) -> list[Line]:
    """Everything worth knowing, never raising. Without `look` the runtime is told as it was when last looked at.

    That look compares some hundred packages with their list and takes a second or more.
    """
    lines = [_code(), *_packages(), _data(), _database()]
    if lines[-1].level == "fail":
        return lines
    return [*lines, _worker(), _pages(port), _runtime(look=look), *_instances()]


def _code() -> Line:
    python = ".".join(map(str, sys.version_info[:3]))
    return Line(
        "ok",
        say("console"),
        say(
            "version {version}, code {code}, Python {python}",
            version=console.__version__,
            code=fingerprint(),
            python=python,
        ),
    )


def _packages() -> list[Line]:
    found, missing = [], []
    for name in NEEDED:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    lines = [Line("ok", say("packages"), verbatim(", ".join(found)))]
    if missing:
        lines.append(
            Line(
                "fail",
                say("packages"),
                say("missing: {names}", names=", ".join(missing)),
                say("Start the console with scripts/run.py, which installs them."),
            )
        )
    return lines


def _data() -> Line:
    folder = settings().data
    try:
        folder.mkdir(parents=True, exist_ok=True)
        room = shutil.disk_usage(folder).free
    except OSError as error:
        return Line(
            "fail",
            say("data folder"),
            say("{folder}: {error}", folder=str(folder), error=str(error)),
            say("Choose a folder that belongs to you with --data."),
        )
    seen = say("{folder}, {room} GiB free", folder=str(folder), room=f"{room / 2**30:.1f}")
    if not os.access(folder, os.W_OK):
        return Line(
            "fail",
            say("data folder"),
            say("{folder} cannot be written", folder=str(folder)),
            say("Choose a folder that belongs to you with --data."),
        )
    level = "ok" if room > LEAST_ROOM else "warn"
    return Line(level, say("data folder"), seen, None if level == "ok" else say("Make room on this disk."))


def _database() -> Line:
    try:
        engine()
    except ConsoleError as error:
        return Line("fail", say("database"), error.text)
    return Line("ok", say("database"), verbatim(str(settings().database)))


def _worker() -> Line:
    known = beat()
    if not held() or known is None:
        return Line("warn", say("worker"), say("does not run"), say("`pilot up` starts it; so does `pilot run`."))
    age = time.time() - known.beat
    if not known.alive:
        return Line(
            "fail",
            say("worker"),
            say("process {pid} gave no sign of life for {age} s", pid=known.pid, age=round(age)),
            say("`pilot up` replaces it."),
        )
    level, fix = (
        ("ok", None)
        if known.code == fingerprint()
        else ("warn", say("It runs older code: `pilot worker --stop`, then `pilot up`."))
    )
    return Line(
        level, say("worker"), say("process {pid}, last sign of life {age} s ago", pid=known.pid, age=round(age, 1)), fix
    )


def _pages(port: int) -> Line:
    with socket.socket() as probe:
        probe.settimeout(1)
        open_ = probe.connect_ex(("127.0.0.1", port)) == 0
    if open_:
        return Line(
            "ok",
            say("pages"),
            say("something answers on port {port}; the link: {link}", port=str(port), link=link(port)),
            private=True,
        )
    return Line(
        "warn",
        say("pages"),
        say("nothing answers on port {port}", port=str(port)),
        say("Start the console with scripts/run.py."),
    )


def _runtime(*, look: bool) -> Line:
    title = say("vLLM on this machine")
    try:
        found = observe.runtime(inventory.this_machine(), look=look)
    except ConsoleError as error:
        return Line("fail", title, error.text)
    if found is None:
        return Line("unknown", title, say("nobody has looked at it yet"))
    if not found.complete:
        return Line("warn", title, found.words, say("Start the pilot on Home, or run `pilot run`."), looked=found.time)
    return Line("ok", title, found.words, looked=found.time)


def _instances() -> list[Line]:
    level = {"ready": "ok", "stopped": "ok", "starting": "ok", "stopping": "ok", "failed": "fail"}
    return [
        Line(
            level.get(one.state, "warn"),
            say("instance {name}", name=one.name),
            say("{state} on {address}", state=say_state(one.state), address=one.address),
        )
        for one in instances.instances()
    ]
