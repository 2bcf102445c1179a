"""`apt-get`, `apt`, `apt-cache`, `dpkg`, `dpkg-query`: a package database of names and versions, and its lock."""

import fcntl
import fnmatch
import os
import sys
import time

from pretend import packages, place, users

SOURCE = "http://ports.ubuntu.com/ubuntu-ports"
LOCK = "/var/lib/dpkg/lock-frontend"


def main(name: str, words: list[str]) -> int:
    played = place.scenario()
    if played["system"]["family"] != "debian":
        print(f"{name}: command not found", file=sys.stderr)
        return 127
    if name in ("dpkg", "dpkg-query"):
        return _dpkg(name, words)
    if name == "apt-cache":
        return _policy(words)
    return _apt(words)


def _apt(words: list[str]) -> int:
    given, rest = _options(words)
    verb, wanted = (rest or [""])[0], rest[1:]
    simulated = bool({"-s", "--simulate", "--dry-run", "--just-print"} & set(given))
    if verb not in ("update", "install", "remove", "purge", "autoremove", "clean", "check"):
        print(f"E: Invalid operation {verb}", file=sys.stderr)
        return 100
    if users.current().uid and not simulated:
        print(
            f"E: Could not open lock file {LOCK} - open (13: Permission denied)\n"
            f"E: Unable to acquire the dpkg frontend lock ({LOCK}), are you root?",
            file=sys.stderr,
        )
        return 100
    if verb == "update":
        print("Hit:1 http://ports.ubuntu.com/ubuntu-ports jammy InRelease\nReading package lists... Done")
        return _offline() if packages.is_offline() else 0
    if verb in ("clean", "check", "autoremove"):
        return 0
    patience = next((float(word.partition("=")[2]) for word in given if word.startswith("DPkg::Lock::Timeout=")), 0.0)
    return _change(verb, wanted, simulated, patience)


def _options(words: list[str]) -> tuple[list[str], list[str]]:
    given: list[str] = []
    rest: list[str] = []
    pending = list(words)
    while pending:
        word = pending.pop(0)
        if word in ("-o", "-t", "-c"):
            given.append(pending.pop(0) if pending else "")
        elif word.startswith("-o") and "::" in word:
            given.append(word[2:])
        else:
            (given if word.startswith("-") else rest).append(word)
    return given, rest


def _offline() -> int:
    print(
        f"W: Failed to fetch {SOURCE}/dists/jammy/InRelease  Temporary failure resolving 'ports.ubuntu.com'",
        file=sys.stderr,
    )
    return 0


def _change(verb: str, wanted: list[str], simulated: bool, patience_s: float) -> int:
    lock = None if simulated else _lock(patience_s)
    if lock == -1:
        print(
            f"E: Could not get lock {LOCK}. It is held by process {packages.holder(LOCK)} (unattended-upgr)\n"
            f"E: Unable to acquire the dpkg frontend lock ({LOCK}), is another process using it?",
            file=sys.stderr,
        )
        return 100
    installed = packages.installed()
    print("Reading package lists... Done\nBuilding dependency tree... Done\nReading state information... Done")
    if verb == "install":
        return _install([name for name in wanted if name not in installed], wanted, installed, simulated)
    gone = [name for name in wanted if name in installed]
    for name in [name for name in wanted if name not in installed]:
        print(f"Package '{name}' is not installed, so not removed")
    _tell("REMOVED", gone, f"0 upgraded, 0 newly installed, {len(gone)} to remove and 0 not upgraded.")
    for name in gone:
        print(f"Remv {name} [{installed[name]}]" if simulated else f"Removing {name} ({installed[name]}) ...")
    if not simulated:
        packages.change(remove=gone)
    return 0


def _install(new: list[str], wanted: list[str], installed: place.Data, simulated: bool) -> int:
    for name in new:
        if packages.version(name) is None:
            print(f"E: Unable to locate package {name}", file=sys.stderr)
            return 100
    for name in [name for name in wanted if name in installed]:
        print(f"{name} is already the newest version ({installed[name]}).")
    _tell("NEW", new, f"0 upgraded, {len(new)} newly installed, 0 to remove and 0 not upgraded.")
    if new and packages.is_offline() and not simulated:
        print(
            f"E: Failed to fetch {SOURCE}/pool/main/{new[0]}.deb  Temporary failure resolving "
            "'ports.ubuntu.com'\n"
            "E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?",
            file=sys.stderr,
        )
        return 100
    for name in new:
        version = packages.version(name)
        print(f"Inst {name} ({version} Ubuntu:22.04 [arm64])" if simulated else f"Setting up {name} ({version}) ...")
    if not simulated:
        packages.change(add=new)
    return 0


def _tell(kind: str, names: list[str], summary: str) -> None:
    if names:
        print(
            "The following NEW packages will be installed:"
            if kind == "NEW"
            else "The following packages will be REMOVED:"
        )
        print("  " + " ".join(names))
    print(summary)


def _lock(patience_s: float) -> int:
    """A descriptor that holds the lock until this program ends; -1 when another one keeps it."""
    place.at(LOCK).parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(place.at(LOCK), os.O_RDWR | os.O_CREAT, 0o640)
    ends = time.monotonic() + patience_s
    while True:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except OSError:
            if time.monotonic() >= ends:
                return -1
            time.sleep(0.2)


def _policy(words: list[str]) -> int:
    for name in words[1:]:
        version = packages.version(name)
        if version:
            print(f"{name}:\n  Installed: {packages.installed().get(name, '(none)')}\n  Candidate: {version}")
    return 0


def _dpkg(name: str, words: list[str]) -> int:
    flags = [word for word in words if word.startswith("-")]
    wanted = [word for word in words if not word.startswith("-")]
    if flags == ["--print-architecture"]:
        print("arm64")
        return 0
    if "-W" in flags or "--show" in flags or "-l" in flags or "--list" in flags or "-s" in flags or "--status" in flags:
        return _list(name, flags, wanted)
    print(f"{name}: {' '.join(words)} is not simulated on a rehearsal host.", file=sys.stderr)
    return 2


def _list(program: str, flags: list[str], wanted: list[str]) -> int:
    installed = packages.installed()
    template = next(
        (word.partition("=")[2] or word[2:] for word in flags if word.startswith(("-f", "--showformat"))), ""
    )
    found = {
        name: version
        for name, version in installed.items()
        if not wanted or any(fnmatch.fnmatch(name, one) for one in wanted)
    }
    missing = [one for one in wanted if not any(fnmatch.fnmatch(name, one) for name in installed)]
    if "-l" in flags or "--list" in flags:
        print("Desired=Unknown/Install/Remove/Purge/Hold\n||/ Name           Version      Architecture Description")
    for name, version in found.items():
        if "-l" in flags or "--list" in flags:
            print(f"ii  {name:<32} {version:<28} arm64        simulated")
        elif "-s" in flags or "--status" in flags:
            print(f"Package: {name}\nStatus: install ok installed\nArchitecture: arm64\nVersion: {version}\n")
        else:
            print(_filled(template or "${Package}\\t${Version}\\n", name, version), end="")
    for name in missing:
        print(f"{program}{'-query' if program == 'dpkg' else ''}: no packages found matching {name}", file=sys.stderr)
    return 1 if missing else 0


def _filled(template: str, name: str, version: str) -> str:
    text = template.replace("\\n", "\n").replace("\\t", "\t")
    for word, value in {
        "Package": name,
        "binary:Package": name,
        "Version": version,
        "Architecture": "arm64",
        "Status": "install ok installed",
        "db:Status-Status": "installed",
        "db:Status-Abbrev": "ii ",
    }.items():
        text = text.replace("${" + word + "}", value)
    return text
