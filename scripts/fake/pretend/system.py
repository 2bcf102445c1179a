"""The system around: `systemctl`, `reboot`, `shutdown`, `timedatectl`, `chronyc`, `getenforce`."""

from __future__ import annotations

import sys
import time

from pretend import place, users

USUAL = {"docker": True, "ssh": True, "sshd": True, "chronyd": True, "systemd-timesyncd": True}
FIREWALLS = ("firewalld", "ufw", "nftables", "iptables")


def main(name: str, words: list[str]) -> int:
    played = place.scenario()
    if name in ("reboot", "shutdown"):
        return _reboot(name, words)
    if name == "systemctl":
        return _systemctl(played, words)
    if name == "getenforce":
        if "selinux" not in played:
            print("getenforce: command not found", file=sys.stderr)
            return 127
        print(played["selinux"])
    elif name == "timedatectl":
        return _timedatectl(played, words)
    else:
        return _chronyc(words)
    return 0


def _is_active(played: place.Data, unit: str) -> bool:
    kept = place.read("services")
    usual = {**USUAL, "docker": played["docker"].get("running", False), **dict.fromkeys(FIREWALLS, False)}
    return bool(kept.get(unit, {**usual, **played.get("services", {})}.get(unit, False)))


def _systemctl(played: place.Data, words: list[str]) -> int:
    verb, *units = [word for word in words if not word.startswith("-")] or [""]
    units = [unit.removesuffix(".service") for unit in units]
    quiet = bool({"-q", "--quiet"} & set(words))
    if verb == "reboot":
        return _reboot("systemctl", words)
    if verb in ("is-active", "is-enabled"):
        states = [_is_active(played, unit) for unit in units]
        yes, no = ("active", "inactive") if verb == "is-active" else ("enabled", "disabled")
        if not quiet:
            print("\n".join(yes if state else no for state in states))
        return 0 if all(states) else 3 if verb == "is-active" else 1
    if verb == "status":
        for unit in units:
            state = "active (running)" if _is_active(played, unit) else "inactive (dead)"
            print(
                f"● {unit}.service\n     Loaded: loaded (/lib/systemd/system/{unit}.service; enabled)\n"
                f"     Active: {state}"
            )
        return 0 if all(_is_active(played, unit) for unit in units) else 3
    if verb in ("start", "stop", "restart", "enable", "disable"):
        return _switch(verb, units, "--now" in words)
    if verb == "daemon-reload":
        return 0
    print(f"Unknown command verb {verb}.", file=sys.stderr)
    return 1


def _switch(verb: str, units: list[str], now: bool) -> int:
    if users.current().uid:
        print(
            f"Failed to {verb} {units[0] if units else ''}.service: Interactive authentication required.",
            file=sys.stderr,
        )
        return 1
    from pretend import answers, docker

    if "docker" in units and not docker.is_installed():
        print(f"Failed to {verb} docker.service: Unit docker.service not found.", file=sys.stderr)
        return 5
    if verb in ("start", "restart", "stop") or now:
        with place.changing("services") as kept:
            kept |= dict.fromkeys(units, verb in ("start", "restart", "enable"))
        answers.write()
    return 0


def _reboot(name: str, words: list[str]) -> int:
    """Only says that it is wanted; what keeps the host running sees the file and boots it again."""
    if users.current().uid:
        print("Failed to set wall message, ignoring: Interactive authentication required.\n"
              "Call to Reboot failed: Interactive authentication required.", file=sys.stderr)  # fmt: skip
        return 1
    if name == "shutdown" and "-c" in words:
        place.at(f"{place.RUN}/reboot-wanted").unlink(missing_ok=True)
        return 0
    if name == "shutdown" and not {"-r", "--reboot"} & set(words):
        print("shutdown: switching off is not simulated on a rehearsal host; use -r.", file=sys.stderr)
        return 1
    place.put(f"{place.RUN}/reboot-wanted", f"{time.time()}\n")
    return 0


def _timedatectl(played: place.Data, words: list[str]) -> int:
    synced = "yes" if played.get("time_synced", True) else "no"
    if words[:1] == ["show"]:
        facts = {"NTP": synced, "NTPSynchronized": synced, "Timezone": "Asia/Shanghai"}
        wanted = [words[index + 1] for index, word in enumerate(words[:-1]) if word in ("-p", "--property")]
        print("\n".join(f"{name}={value}" for name, value in facts.items() if not wanted or name in wanted))
    elif words[:1] == ["set-ntp"]:
        return 0 if not users.current().uid else 1
    else:
        print(
            f"System clock synchronized: {synced}\n"
            f"              NTP service: {'active' if synced == 'yes' else 'inactive'}"
        )
    return 0


def _chronyc(words: list[str]) -> int:
    print("506 Cannot talk to daemon")
    return 1
