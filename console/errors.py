"""Every error the console raises on purpose, each with a sentence the user can act on.

ConsoleError
+-- InvalidInput        what was typed or chosen cannot work (nothing was changed)
+-- NotFound            the host, job, instance or file does not exist (any more)
+-- Conflict            someone else, or a double click, got there first
+-- HostError           a host could not be reached or refused
|   +-- Unreachable     there is no way to the host now, or the connection broke; it may be back later
|   +-- CommandTimeout  a command on a host took longer than its limit
|   +-- UnknownHostKey  nobody has accepted the key that an SSH server showed; carries that key
|   +-- ChangedHostKey  an SSH server showed another key than the accepted one; carries the new one
+-- EngineError         a vLLM server did not answer, or answered with an error
+-- DataError           the console's own data folder or database cannot be used
"""

from pathlib import Path
from typing import TYPE_CHECKING

from console.text import Text, say

if TYPE_CHECKING:
    from console.hosts.known_hosts import HostKey


class ConsoleError(Exception):
    """`text` says what happened and what to do, in words for the user."""

    def __init__(self, text: Text) -> None:
        super().__init__(str(text))
        self.text = text


class InvalidInput(ConsoleError):
    """What was typed or chosen cannot work; nothing was changed."""


class NotFound(ConsoleError):
    """The thing named does not exist (any more)."""


class Conflict(ConsoleError):
    """The state moved meanwhile; nothing was changed."""


class HostError(ConsoleError):
    """A host could not be reached, or refused."""


class Unreachable(HostError):
    """There is no way to the host now, or the connection to it broke; trying again later may help."""


class CommandTimeout(HostError):
    """A command on a host took longer than its limit and was ended."""


class UnknownHostKey(HostError):
    """Nobody has accepted the key that an SSH server showed; a person may accept `key`."""

    def __init__(self, text: Text, key: "HostKey") -> None:
        super().__init__(text)
        self.key = key


class ChangedHostKey(HostError):
    """An SSH server showed `key` and not the one that was accepted."""

    def __init__(self, text: Text, key: "HostKey") -> None:
        super().__init__(text)
        self.key = key


class EngineError(ConsoleError):
    """A vLLM server did not answer, or answered with an error."""


class DataError(ConsoleError):
    """The console's own data folder or database cannot be used."""


def unreadable(path: Path, error: Exception) -> InvalidInput:
    """For a file of this machine that somebody named, or that is to be sent."""
    return InvalidInput(say("{path} cannot be read: {error}", path=str(path), error=str(error)))
