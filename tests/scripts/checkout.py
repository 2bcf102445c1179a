"""A copy of this checkout to start in, with stand-ins for what is not the point of a test."""

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tests.house.tree import ROOT, tracked

MODULES = (
    "streamlit.web.bootstrap", "starlette", "uvicorn", "sqlalchemy.orm", "plotly.graph_objects", "paramiko", "httpx",
    "prometheus_client.parser", "rich.table", "babel.messages.pofile", "yaml",
)  # fmt: skip
"""What run.py imports to try an environment."""

CONSOLE = '''\
"""A console that listens, tells what it was told, and ends at a signal."""
import os, socket, sys, time
verb, port = sys.argv[1], int(sys.argv[sys.argv.index("--port") + 1]) if "--port" in sys.argv else 0
if verb == "doctor":
    print('[{"title": "link", "seen": "http://127.0.0.1:%d/?token=abc"}]' % port)
    sys.exit(1)
if verb == "end":
    sys.exit(int(sys.argv[2]))
print("up", sys.argv[1:], os.getcwd(), flush=True)
if os.environ.get("STAND_IN_ENDS"):
    sys.exit(int(os.environ["STAND_IN_ENDS"]))
place = socket.create_server(("127.0.0.1", port))
print("listening", flush=True)
time.sleep(600)
'''


class Checkout:
    """A folder with every file of the project, and the one way to start it."""

    def __init__(self, folder: Path, like: "Checkout | None" = None) -> None:
        self.folder = folder
        if like:
            shutil.copytree(like.folder, folder, symlinks=True)
            return
        for name in tracked():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)

    @property
    def venv(self) -> Path:
        return self.folder / ".venv"

    def stand_in(self) -> Path:
        """A console that only listens, a lock of one empty package, and the folder of wheels that has it."""
        shutil.rmtree(self.folder / "console")
        (self.folder / "console").mkdir()
        (self.folder / "console" / "__init__.py").write_text("")
        (self.folder / "console" / "__main__.py").write_text(CONSOLE)
        wheels = self.folder / "my wheels"
        wheels.mkdir()
        digest = hashlib.sha256(wheel(wheels, MODULES).read_bytes()).hexdigest()
        (self.folder / "requirements.lock.txt").write_text(f"stand-in==1.0 \\\n    --hash=sha256:{digest}\n")
        return wheels

    def start(self, *words: str | Path, python: str = sys.executable, **environment: str) -> subprocess.Popen[str]:
        """`scripts/run.py` from another folder, in English, in a process group of its own."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "LC_", "LANG"))}
        command: Sequence[str | Path] = [python, self.folder / "scripts" / "run.py", *words]
        return subprocess.Popen(
            command, cwd="/", text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**kept, "PIP_RETRIES": "1", "PIP_DEFAULT_TIMEOUT": "60", **environment}, start_new_session=True,
        )  # fmt: skip

    def told(self, *words: str | Path, python: str = sys.executable, **environment: str) -> tuple[int, str]:
        """Exit code and everything printed, of a start that ends by itself."""
        process = self.start(*words, python=python, **environment)
        printed, _ = process.communicate(timeout=180)
        return process.returncode, printed


def wheel(folder: Path, modules: Sequence[str]) -> Path:
    """An installable wheel `stand-in` with these modules, all empty."""
    files = {f"{name.replace('.', '/')}/__init__.py": "" for dotted in modules for name in _with_parents(dotted)}
    about = "stand_in-1.0.dist-info"
    files[f"{about}/METADATA"] = "Metadata-Version: 2.1\nName: stand-in\nVersion: 1.0\n"
    files[f"{about}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    path = folder / "stand_in-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return path


def _with_parents(dotted: str) -> list[str]:
    parts = dotted.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def read_until(lines: IO[str] | None, words: str) -> str:
    """What was printed up to the first line with `words`; fails if they never come."""
    assert lines is not None
    read = ""
    for line in lines:
        read += line
        if words in line:
            return read
    raise AssertionError(f"{words!r} is not in:\n{read}")


def end(process: subprocess.Popen[str], how: signal.Signals = signal.SIGKILL) -> None:
    """End the whole group, and wait."""
    with suppress(ProcessLookupError):  # it may have ended by itself
        os.killpg(process.pid, how)
    process.communicate(timeout=60)


@contextmanager
def silent_index() -> Iterator[str]:
    """The address of an index that takes connections and never answers; they break off when it ends."""
    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as place:

        def take() -> None:
            while True:
                try:
                    kept.append(place.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=take)
        thread.start()
        yield f"http://127.0.0.1:{place.getsockname()[1]}/simple/"
        place.shutdown(socket.SHUT_RDWR)
        thread.join()
    for one in kept:
        one.close()


def without_ensurepip(folder: Path) -> str:
    """A real Python in `folder` as distributions split it: everything but the module ensurepip."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = Path(os.__file__).parent
    (folder / "bin").mkdir(parents=True)
    (folder / "lib" / version).mkdir(parents=True)
    for entry in library.iterdir():
        if entry.name != "ensurepip":
            (folder / "lib" / version / entry.name).symlink_to(entry)
    return shutil.copy2(os.path.realpath(sys.executable), folder / "bin" / version)
