"""Small facts of a running system: kernel, C library, user, clock, language, limits, and what was asked."""

import re
from dataclasses import dataclass

from console.facts.lines import clean, lines, whole
from console.facts.trouble import Trouble, trouble_in

_GLIBC = re.compile(r"\b(?:glibc|GNU libc|GLIBC)\D*?(\d+\.\d+)", re.IGNORECASE)
_MUSL = re.compile(r"\bmusl\b", re.IGNORECASE)
_NO_LIMIT = 1 << 60
"""Version 1 cgroups write "no limit" as the largest page-aligned number."""


@dataclass(frozen=True)
class Kernel:
    """`uname -srm`."""

    system: str
    release: str
    machine: str


@dataclass(frozen=True)
class Libc:
    """The C library; only glibc has a version here."""

    name: str
    version: tuple[int, int] | None


@dataclass(frozen=True)
class User:
    """Who the commands run as; `uid` 0 is root."""

    uid: int
    name: str | None


@dataclass(frozen=True)
class Clock:
    """Seconds since 1970 on the host, and its distance to UTC as `date` writes it ("+0800").

    asked  what this console's own clock said when it sent the question; None where an older question did not say
    """

    seconds: int
    offset: str | None
    asked: int | None = None

    @property
    def ahead(self) -> int | None:
        """Seconds by which the host's clock is before the console's; a question takes a few of them."""
        return None if self.asked is None else self.seconds - self.asked


@dataclass(frozen=True)
class Limits:
    """Limits set from outside (a container, a scheduler); null: none. The strictest along the path counts."""

    memory_bytes: int | None
    memory_used_bytes: int | None
    cpus: float | None


@dataclass(frozen=True)
class Wish:
    """What the question was about: the folder to work in and the port to serve on."""

    folder: str
    port: int


@dataclass(frozen=True)
class ProbeNote:
    """Where the probe kept its temporary files, and folders that could not be written."""

    folder: str
    full: tuple[str, ...]


def parse_kernel(text: str) -> Kernel | Trouble:
    for row in lines(text):
        words = row.split()
        if len(words) == 3 and re.match(r"\d+\.\d+", words[1]):
            return Kernel(*words)
    return trouble_in(text)


def parse_word(text: str) -> str | Trouble:
    """The one word a command printed (`uname -m`)."""
    words = clean(text).split()
    return words[0] if len(words) == 1 else trouble_in(text)


def parse_libc(text: str) -> Libc | Trouble:
    """From `getconf GNU_LIBC_VERSION` or `ldd --version`."""
    if _MUSL.search(text):
        return Libc("musl", None)
    match = _GLIBC.search(text) or re.search(r"^ldd \(.*\) (\d+\.\d+)", clean(text), re.MULTILINE)
    if match is None:
        return trouble_in(text)
    major, minor = match.group(1).split(".")
    return Libc("glibc", (int(major), int(minor)))


def parse_count(text: str) -> int | Trouble:
    number = whole(clean(text).strip())
    return trouble_in(text) if number is None else number


def parse_flags(text: str) -> frozenset[str] | Trouble:
    """The flags line of /proc/cpuinfo ("flags" on x86, "Features" on ARM)."""
    for row in lines(text):
        label, found, words = row.partition(":")
        if found and label.strip().lower() in ("flags", "features"):
            return frozenset(words.split())
    return trouble_in(text)


def parse_user(text: str) -> User | Trouble:
    words = clean(text).split()
    uid = whole(words[0]) if words else None
    return trouble_in(text) if uid is None else User(uid, words[1] if len(words) > 1 else None)


def parse_clock(text: str) -> Clock | Trouble:
    words = clean(text).split()
    seconds = whole(words[0]) if words else None
    if seconds is None:
        return trouble_in(text)
    offset, asked = [*words[1:3], None, None][:2]
    return Clock(seconds, offset, None if asked is None else whole(asked))


def parse_locale(text: str) -> str:
    """The language setting of the login, "" when there is none."""
    return clean(text).strip()


def parse_wish(text: str) -> Wish | Trouble:
    values = _settings(text)
    port = whole(values.get("port"))
    if not values.get("folder") or port is None:
        return trouble_in(text)
    return Wish(values["folder"], port)


def parse_probe_note(text: str) -> ProbeNote:
    values = _settings(text)
    return ProbeNote(values.get("folder", ""), tuple(values.get("full", "").split()))


def parse_limits(text: str) -> Limits:
    """Lines `memory.max 123`, `memory.current 123`, `cpu.max 200000 100000`, or their version 1 names."""
    most: list[int] = []
    used: int | None = None
    cpus: list[float] = []
    for row in lines(text):
        match row.split():
            case ["memory.max" | "memory.limit_in_bytes", value] if value.isdigit() and int(value) < _NO_LIMIT:
                most.append(int(value))
            case ["memory.current" | "memory.usage_in_bytes", value] if value.isdigit() and used is None:
                used = int(value)
            case ["cpu.max", quota, period] if quota.isdigit() and period.isdigit() and int(period):
                cpus.append(int(quota) / int(period))
    return Limits(min(most, default=None), used if most else None, min(cpus, default=None))


def _settings(text: str) -> dict[str, str]:
    found = (row.partition("=") for row in lines(text))
    return {name.strip(): value.strip() for name, sign, value in found if sign}
