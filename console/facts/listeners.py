"""Which TCP ports are in use, from `ss -ltn` or /proc/net/tcp."""

import re
from dataclasses import dataclass

from console.facts.lines import lines
from console.facts.trouble import Trouble, trouble_in

_SS = re.compile(r"^(?:LISTEN\s+\d+\s+\d+|\d+\s+\d+)\s+(\S+):(\d+)\s+\S+(?:\s+(.*))?$")
_PROC = re.compile(r"^\s*\d+:\s+([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})\s+\S+\s+0A\b")
_PROCESS = re.compile(r"\(\(\"([^\"]*)\",pid=(\d+)")


@dataclass(frozen=True)
class Listener:
    """One listening socket; `process` and `pid` only where this user may see them."""

    address: str
    port: int
    process: str | None = None
    pid: int | None = None


def parse_listeners(text: str) -> tuple[Listener, ...] | Trouble:
    """Listening sockets, by port; the line `source` in front tells an empty answer from no answer."""
    found: dict[tuple[str, int], Listener] = {}
    is_answered = False
    for row in lines(text):
        is_answered = is_answered or row.startswith(("source ", "State")) or "local_address" in row
        if match := _SS.match(row.strip()):
            owner = _PROCESS.search(match.group(3) or "")
            name, pid = (owner.group(1), int(owner.group(2))) if owner else (None, None)
            listener = Listener(match.group(1).strip("[]"), int(match.group(2)), name, pid)
        elif match := _PROC.match(row):
            listener = Listener(_address(match.group(1)), int(match.group(2), 16))
        else:
            continue
        found.setdefault((listener.address, listener.port), listener)
    if not (found or is_answered):
        return trouble_in(text)
    return tuple(sorted(found.values(), key=lambda listener: (listener.port, listener.address)))


def _address(digits: str) -> str:
    """An address of /proc/net/tcp: four bytes in host order, or four such groups."""
    if len(digits) == 8:
        return ".".join(str(byte) for byte in reversed(bytes.fromhex(digits)))
    return "::" if int(digits, 16) == 0 else digits.lower()
