"""The console's own copy of what steps and attempts printed, appended whole lines at a time, secrets masked."""

from pathlib import Path

from console.masking import mask
from console.settings import settings

TAIL_BYTES = 65_536


class Log:
    """One log file. Masking keeps the length, so that its size is also the offset reached at the source."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def take(self, printed: bytes, *, ended: bool) -> int:
        """Append the complete lines of `printed` (all of it once the source `ended`); returns the bytes taken."""
        whole = len(printed) if ended else printed.rfind(b"\n") + 1
        if whole:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write(mask(printed[:whole].decode("latin-1")).encode("latin-1"))
        return whole

    def line(self, words: str) -> None:
        """Append one line of the console's own."""
        self.take(f"{words}\n".encode(), ended=True)

    def tail(self, limit: int = TAIL_BYTES) -> str:
        """The last `limit` bytes as text, starting at a line; "" when nothing was printed."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, self.size - limit))
                printed = file.read(limit)
        except FileNotFoundError:
            return ""
        if self.size > limit:
            printed = printed.partition(b"\n")[2]
        return printed.decode("utf-8", errors="replace")


def step_log(job_id: int, number: int, attempt: int) -> Log:
    return Log(settings().logs / "jobs" / str(job_id) / f"{number:02d}.{attempt}.log")


def attempt_log(instance_id: int, attempt: int) -> Log:
    return Log(settings().logs / "instances" / str(instance_id) / f"{attempt}.log")
