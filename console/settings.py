"""Where the console keeps its data and who acts; read from the environment once per process."""

import functools
import getpass
import os
from dataclasses import dataclass
from pathlib import Path

DATA_VARIABLE = "PILOT_DATA"
DEFAULT_PORT = 8501


@dataclass(frozen=True)
class Settings:
    """`data` holds everything the console writes: database, samples, token, logs, runtimes, models."""

    data: Path

    @property
    def database(self) -> Path:
        return self.data / "console.sqlite"

    @property
    def samples(self) -> Path:
        return self.data / "samples.sqlite"

    @property
    def token(self) -> Path:
        return self.data / "token"

    @property
    def logs(self) -> Path:
        """Copies of step and attempt logs, kept on the console whatever becomes of the host."""
        return self.data / "logs"

    @property
    def worker_lock(self) -> Path:
        return self.data / "worker.lock"

    @property
    def worker_folder(self) -> Path:
        return self.data / "worker"


@functools.cache
def settings() -> Settings:
    """The settings of this process: `$PILOT_DATA`, else `$XDG_DATA_HOME/ascend-pilot`, else ~/.local/share."""
    chosen = os.environ.get(DATA_VARIABLE)
    if chosen:
        return Settings(Path(chosen).expanduser().resolve())
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Settings((Path(base).expanduser() / "ascend-pilot").resolve())


def actor() -> str:
    """Who acts, until there is a login: the operating-system user running the console."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"uid {os.getuid()}"
