"""What surrounds a host: its time source, proxies, name servers and guards."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from console.facts.lines import lines
from console.facts.trouble import Trouble, trouble_in

_OFFSET = re.compile(r"^System time\s*:\s*([\d.]+) seconds (slow|fast)", re.MULTILINE)
_LEAP = re.compile(r"^Leap status\s*:\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class TimeSync:
    """Whether the clock follows a time server; null when no tool says. `offset_s` is positive when it is fast."""

    synchronized: bool | None
    offset_s: float | None


@dataclass(frozen=True)
class Guards:
    """SELinux mode ("Enforcing", "Permissive", "Disabled"; null without SELinux) and firewalls that are active."""

    selinux: str | None
    firewalls: tuple[str, ...]


@dataclass(frozen=True)
class Resolvers:
    """Name servers of /etc/resolv.conf."""

    servers: tuple[str, ...]
    search: tuple[str, ...]


def parse_time_sync(text: str) -> TimeSync | Trouble:
    """`timedatectl show` and `chronyc tracking`, behind a line `begin`; either may be missing."""
    rows = lines(text)
    if rows[:1] != ["begin"]:
        return trouble_in(text)
    said = {"NTPSynchronized=yes": True, "NTPSynchronized=no": False}
    answers = [said[row.strip()] for row in rows if row.strip() in said]
    leap = _LEAP.search(text)
    if leap:
        answers.append(leap.group(1) != "Not synchronised")
    offset = _OFFSET.search(text)
    seconds = float(offset.group(1)) * (1 if offset.group(2) == "fast" else -1) if offset else None
    return TimeSync(any(answers) if answers else None, seconds)


def parse_proxies(text: str) -> Mapping[str, str] | Trouble:
    """Variables by lower-case name, behind a line `begin`; none is an answer too."""
    rows = lines(text)
    if rows[:1] != ["begin"]:
        return trouble_in(text)
    found = (row.partition("=") for row in rows[1:])
    return {name.strip().lower(): value.strip() for name, sign, value in found if sign and value.strip()}


def parse_resolvers(text: str) -> Resolvers:
    rows = [row.split() for row in lines(text)]
    servers = tuple(row[1] for row in rows if len(row) > 1 and row[0] == "nameserver")
    search = tuple(name for row in rows if row[:1] in (["search"], ["domain"]) for name in row[1:])
    return Resolvers(servers, search)


def parse_guards(text: str) -> Guards | Trouble:
    rows = [row.split() for row in lines(text)]
    modes = [row[1] for row in rows if len(row) == 2 and row[0] == "selinux"]
    if not modes:
        return trouble_in(text)
    active = tuple(row[1] for row in rows if len(row) == 3 and row[0] == "firewall" and row[2] == "active")
    return Guards(None if modes[0] == "absent" else modes[0], active)
