"""Checks of the operating system: kind, architecture, C library, clock, language."""

import math
from datetime import UTC, datetime

from console.catalog.profiles import Profile
from console.checks.check import Level, Verdict, check
from console.facts.os_release import OsRelease
from console.facts.system import Clock, Kernel, Libc
from console.text import Text, say, verbatim

FAR_OFF_S = 300
"""Certificates and logs bear that much; asking takes seconds."""
NEWER_LINUX = say("Use a newer Linux, such as Ubuntu 22.04, Debian 12 or openEuler 24.03, or a container of one.")


@check(
    area="system",
    title=say("Operating system"),
    why=say("The packages of vLLM for CPUs are built for Linux; other systems have none that fit."),
)
def operating_system(kernel: Kernel, os_release: OsRelease | None = None) -> Verdict:
    name = os_release.pretty or os_release.name if os_release else None
    system = f"{kernel.system} {kernel.release}"
    seen = say("{name}, kernel {system}", name=name, system=system) if name else verbatim(system)
    if kernel.system == "Linux":
        return Verdict(Level.PASS, seen, verbatim("Linux"))
    fix = say("Run the console on Linux; on Windows or macOS, inside a Linux virtual machine or container.")
    return Verdict(Level.FAIL, seen, verbatim("Linux"), fix)


@check(
    area="system",
    title=say("Processor architecture"),
    why=say("Compiled packages exist for certain processor architectures only; others would have to be built by hand."),
)
def architecture(arch: str, profile: Profile) -> Verdict:
    known = profile.words("archs")
    wanted = verbatim(" / ".join(known))
    if arch in known:
        return Verdict(Level.PASS, verbatim(arch), wanted)
    return Verdict(Level.FAIL, verbatim(arch), wanted, say("Use a machine with one of these: {archs}.", archs=wanted))


@check(
    area="system",
    title=say("C library"),
    why=say("Compiled Python packages load only on the version of glibc they were built for, or a newer one."),
)
def c_library(libc: Libc, profile: Profile) -> Verdict:
    needed = profile.version("glibc")
    wanted = say("glibc {version} or newer", version=_dotted(needed))
    if libc.version is None:
        fix = say("{name} cannot load these packages. Use a Linux with glibc.", name=libc.name)
        return Verdict(Level.FAIL, verbatim(libc.name), wanted, fix)
    seen = verbatim(f"{libc.name} {_dotted(libc.version)}")
    if libc.version >= needed:
        return Verdict(Level.PASS, seen, wanted)
    return Verdict(Level.FAIL, seen, wanted, NEWER_LINUX)


@check(
    area="system",
    title=say("Clock"),
    why=say("With a clock that is far off, certificates seem invalid, so downloads fail; and logs tell wrong times."),
    slack=math.inf,
)
def clock_is_plausible(clock: Clock, profile: Profile) -> Verdict:
    shown = datetime.fromtimestamp(clock.seconds, UTC)
    words = f"{shown:%Y-%m-%d %H:%M} UTC"
    seen = verbatim(words)
    fix = say("Set the clock, best by letting it follow a time server.")
    if clock.ahead is not None and abs(clock.ahead) > FAR_OFF_S:
        near = say("At most {minutes} minutes from the clock of this console", minutes=FAR_OFF_S // 60)
        return Verdict(Level.WARN, _apart(words, clock.ahead), near, fix, "sudo timedatectl set-ntp true")
    wanted = say("A time after {date}, when this profile was written", date=profile.as_of.isoformat())
    if shown.date() >= profile.as_of:
        return Verdict(Level.PASS, seen, wanted)
    return Verdict(Level.WARN, seen, wanted, fix, "sudo timedatectl set-ntp true")


def _apart(shown: str, ahead: int) -> Text:
    days, hours, minutes = abs(ahead) // 86400, abs(ahead) // 3600 % 24, abs(ahead) // 60 % 60
    if ahead > 0:
        return say(
            "{shown}: {days} d {hours} h {minutes} min ahead of this console; one of the two is wrong",
            shown=shown, days=days, hours=hours, minutes=minutes,
        )  # fmt: skip
    return say(
        "{shown}: {days} d {hours} h {minutes} min behind this console; one of the two is wrong",
        shown=shown, days=days, hours=hours, minutes=minutes,
    )  # fmt: skip


@check(
    area="system",
    title=say("Language setting"),
    why=say("Without UTF-8, Chinese text in logs and file names is garbled."),
)
def language_setting(locale: str) -> Verdict:
    wanted = say("A setting that ends in UTF-8, such as C.UTF-8 or zh_CN.UTF-8")
    seen = verbatim(locale) if locale else say("None is set")
    if locale.lower().replace("-", "").partition("@")[0].endswith("utf8"):
        return Verdict(Level.PASS, seen, wanted)
    fix = say("Set it before starting the console, or in the profile of the login shell.")
    return Verdict(Level.WARN, seen, wanted, fix, "export LANG=C.UTF-8")


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
