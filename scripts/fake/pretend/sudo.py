"""`sudo`: with a password, without one, or not at all, as the scenario's login may."""

import os
import shutil
import sys
import time

from pretend import place, users

TAKES = {"-u", "--user", "-p", "--prompt", "-g", "--group", "-C", "-h", "-r", "-t", "-T", "-U", "-D"}
KEPT = "sudo"
KEEPS = ("PATH", "TERM", "LANG", "LANGUAGE", "SHELL", "DISPLAY")


def main(name: str, words: list[str]) -> int:
    given, rest = _options(words)
    who = users.current()
    state = users.login()
    if "-k" in given or "-K" in given:
        place.at(f"{place.RUN}/{KEPT}.json").unlink(missing_ok=True)
        if not rest and "-v" not in given:
            return 0
    if who.uid and (code := _ask(who.name, state, given)):
        return code
    if "-l" in given and not rest:
        print(f"User {who.name} may run the following commands on {place.scenario()['hostname']}:\n    (ALL : ALL) ALL")
        return 0
    if "-v" in given and not rest:
        return 0
    return _start(given, rest)


def _options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    given: dict[str, str] = {}
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "--":
        word = rest.pop(0)
        name, sign, value = word.partition("=")
        if name == "--preserve-env":
            given["-E" if not sign else name] = value
            continue
        if word.startswith("--"):
            given[f"-{name[2]}"] = value if sign else rest.pop(0) if name in TAKES and rest else ""
            continue
        for index, letter in enumerate(word[1:], 1):
            if f"-{letter}" in TAKES:
                given[f"-{letter}"] = word[index + 1 :] or (rest.pop(0) if rest else "")
                break
            given[f"-{letter}"] = ""
    return given, rest[1:] if rest[:1] == ["--"] else rest


def _ask(name: str, state: place.Data, given: dict[str, str]) -> int:
    """0 when this user may; a password is asked for unless one was given lately."""
    if state["sudo"] == "nopasswd":
        return 0
    kept = place.read(KEPT, place.RUN)
    if state["sudo"] == "password" and 0 <= time.time() - kept.get("time", -1e9) < state.get("sudo_minutes", 15) * 60:
        return 0
    if "-n" in given:
        print("sudo: a password is required", file=sys.stderr)
        return 1
    if "-S" not in given and not sys.stdin.isatty():
        print("sudo: a terminal is required to read the password; either use the -S option to read from standard input "
              "or configure an askpass helper\nsudo: a password is required", file=sys.stderr)  # fmt: skip
        return 1
    if not _right_password(name, state, given.get("-p", f"[sudo] password for {name}: ")):
        return 1
    if state["sudo"] == "no":
        print(f"{name} is not in the sudoers file.  This incident will be reported.", file=sys.stderr)
        return 1
    place.at(place.RUN).mkdir(parents=True, exist_ok=True)
    place.write(KEPT, {"time": time.time()}, place.RUN)
    return 0


def _right_password(name: str, state: place.Data, prompt: str) -> bool:
    """Asks three times, as the real one does."""
    wrong = 0
    while wrong < 3:
        print(prompt.replace("%u", name).replace("%p", name), end="", file=sys.stderr, flush=True)
        line = _line()
        if line is None:
            print("sudo: no password was provided", file=sys.stderr)
            break
        if line == state.get("password"):
            return True
        wrong += 1
        if wrong < 3:
            print("Sorry, try again.", file=sys.stderr)
    plural = "s" if wrong > 1 else ""
    end = f"{wrong} incorrect password attempt{plural}" if wrong else "a password is required"
    print(f"sudo: {end}", file=sys.stderr)
    return False


def _line() -> str | None:
    """One line from standard input, and not a byte more: the rest belongs to the command."""
    found = b""
    while (sign := os.read(0, 1)) not in (b"\n", b""):
        found += sign
    return None if not found and sign == b"" else found.decode(errors="replace").rstrip("\r")


def _handed_on(given: dict[str, str]) -> dict[str, str]:
    """Like env_reset of the real one: few variables, those that are named to it, and what the rehearsal lives on."""
    wanted = given.get("--preserve-env", "").split(",")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in KEEPS or name in wanted or name.startswith(("LC_", "REHEARSAL_"))
    }
    return dict(os.environ) if "-E" in given else kept


def _start(given: dict[str, str], rest: list[str]) -> int:
    user = given.get("-u") or "root"
    target = users.lookup(user)
    if target is None and user != "root":
        print(f"sudo: unknown user {user}\nsudo: error initializing audit plugin sudoers_audit", file=sys.stderr)
        return 1
    environment = {
        **_handed_on(given),
        users.AS: user,
        "SUDO_USER": users.current().name,
        "USER": user,
        "LOGNAME": user,
    }
    environment["HOME"] = target.home if target else "/root"
    while rest and "=" in rest[0] and rest[0].partition("=")[0].isidentifier():
        key, _, value = rest.pop(0).partition("=")
        environment[key] = value
    if "-i" in given or "-s" in given or not rest:
        if not rest and "-i" not in given and "-s" not in given:
            print(
                "usage: sudo -h | -K | -k | -V\nusage: sudo [-ABbEHnPS] [-u user] [VAR=value] command", file=sys.stderr
            )
            return 1
        rest = ["/bin/sh", *(["-c", " ".join(rest)] if rest else [])]
    program = rest[0] if "/" in rest[0] else shutil.which(rest[0])
    if not program or not os.access(program, os.X_OK):
        print(f"sudo: {rest[0]}: command not found", file=sys.stderr)
        return 1
    sys.stdout.flush()
    os.execve(program, [program, *rest[1:]], environment)
    return 126
