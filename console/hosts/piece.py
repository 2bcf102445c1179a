"""What of a file still has to go to a host, block by block, and who hears how far it is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path

from console.errors import unreadable
from console.hosts.pace import Pace


def nobody(at: int) -> None:
    """Hears how far a file is, and does nothing."""


@dataclass
class Piece:
    """A file of this machine from byte `at` on. `told` hears each new `at`; what it raises ends the transfer."""

    source: Path
    at: int = 0
    pace: Pace = field(default_factory=Pace)
    told: Callable[[int], None] = nobody

    def __iter__(self) -> Iterator[memoryview]:
        """One buffer, filled again and again: who takes a block has sent it before asking for the next.

        InvalidInput when the file cannot be read.
        """
        buffer = memoryview(bytearray(self.pace.block))
        with self._opened() as file:
            while got := self._read(file, buffer):
                self.pace.take(got)
                yield buffer[:got]
                self.went(self.at + got)

    def went(self, at: int) -> None:
        """All bytes before `at` are on their way."""
        self.at = at
        self.told(at)

    def _opened(self) -> FileIO:
        try:
            file = self.source.open("rb", buffering=0)
            file.seek(self.at)
        except OSError as error:
            raise unreadable(self.source, error) from error
        return file

    def _read(self, file: FileIO, buffer: memoryview) -> int:
        try:
            return file.readinto(buffer) or 0
        except OSError as error:
            raise unreadable(self.source, error) from error
