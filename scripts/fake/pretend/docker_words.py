"""The words of `docker`: which options and how many arguments each command has, and what it refuses of them.

Options and sentences are those of Docker 27, as its own help lists them.
"""

from __future__ import annotations

RUN_FLAGS = (
    "detach d, init, interactive i, privileged, rm, tty t, disable-content-trust, no-healthcheck, oom-kill-disable, "
    "publish-all P, quiet q, read-only, sig-proxy"
)
RUN_TAKES = (
    "cap-add, device, entrypoint, env e, env-file, hostname h, ipc, label l, memory m, name, network, pid, publish p, "
    "pull, restart, runtime, security-opt, shm-size, ulimit, volume v, workdir w, add-host, annotation, attach a, "
    "blkio-weight, blkio-weight-device, cap-drop, cgroup-parent, cgroupns, cidfile, cpu-period, cpu-quota, "
    "cpu-rt-period, cpu-rt-runtime, cpu-shares c, cpus, cpuset-cpus, cpuset-mems, detach-keys, device-cgroup-rule, "
    "device-read-bps, device-read-iops, device-write-bps, device-write-iops, dns, dns-option, dns-search, domainname, "
    "expose, gpus, group-add, health-cmd, health-interval, health-retries, health-start-interval, "
    "health-start-period, health-timeout, ip, ip6, isolation, kernel-memory, label-file, link, link-local-ip, "
    "log-driver, log-opt, mac-address, memory-reservation, memory-swap, memory-swappiness, mount, network-alias, "
    "oom-score-adj, pids-limit, platform, stop-signal, stop-timeout, storage-opt, sysctl, tmpfs, user u, userns, uts, "
    "volume-driver, volumes-from"
)
NOT_PLAYED = {
    "run": "disable-content-trust no-healthcheck oom-kill-disable publish-all read-only add-host annotation attach "
    "blkio-weight blkio-weight-device cap-drop cgroup-parent cgroupns cidfile cpu-period cpu-quota cpu-rt-period "
    "cpu-rt-runtime cpu-shares cpus cpuset-cpus cpuset-mems detach-keys device-cgroup-rule device-read-bps "
    "device-read-iops device-write-bps device-write-iops dns dns-option dns-search domainname expose gpus group-add "
    "health-cmd health-interval health-retries health-start-interval health-start-period health-timeout ip ip6 "
    "isolation kernel-memory label-file link link-local-ip log-driver log-opt mac-address memory-reservation "
    "memory-swap memory-swappiness mount network-alias oom-score-adj pids-limit platform stop-signal stop-timeout "
    "storage-opt sysctl tmpfs user userns uts volume-driver volumes-from",
    "exec": "user privileged detach detach-keys",
    "ps": "latest size last",
    "logs": "follow timestamps details since until",
    "start": "attach interactive detach-keys",
    "stop": "signal",
    "kill": "signal",
    "rm": "link",
    "rmi": "no-prune",
    "pull": "all-tags disable-content-trust platform",
    "load": "platform",
    "images": "digests tree filter",
}
"""Command -> options that the real one has and this one refuses in a sentence."""
OPTIONS = {
    "run": (RUN_FLAGS, RUN_TAKES),
    "exec": ("detach d, interactive i, tty t, privileged", "env e, env-file, user u, workdir w, detach-keys"),
    "ps": ("all a, latest l, no-trunc, quiet q, size s", "filter f, format, last n"),
    "inspect": ("size s", "format f, type"),
    "logs": ("follow f, timestamps t, details", "tail n, since, until"),
    "start": ("attach a, interactive i", "detach-keys"),
    "stop": ("", "time t, signal s"),
    "kill": ("", "signal s"),
    "rm": ("force f, link l, volumes v", ""),
    "rmi": ("force f, no-prune", ""),
    "pull": ("all-tags a, disable-content-trust, quiet q", "platform"),
    "load": ("quiet q", "input i, platform"),
    "images": ("all a, digests, no-trunc, quiet q, tree", "filter f, format"),
    "info": ("", "format f"),
    "version": ("", "format f"),
}
"""Command -> its options without and with a value, each with its short form."""
COUNTS = {
    "run": (1, None), "exec": (2, None), "ps": (0, 0), "inspect": (1, None), "logs": (1, 1), "start": (1, None),
    "stop": (1, None), "kill": (1, None), "rm": (1, None), "rmi": (1, None), "pull": (1, 1), "load": (0, 0),
    "images": (0, 1), "info": (0, 0), "version": (0, 0),
}  # fmt: skip
"""Command -> the fewest and the most arguments; None = any number."""
ENDS_OPTIONS = ("run", "exec")
"""What follows the first argument belongs to the program in the container."""
SAME = {"net": "network", "net-alias": "network-alias"}


class Refused(Exception):
    """What the real one says, and the code it ends with."""

    def __init__(self, words: str, code: int = 1) -> None:
        super().__init__(words)
        self.code = code


def parse(command: str, words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Options by their long names, each with its values, and the arguments. Refused as the real one does."""
    flags, takes = (_named(text) for text in OPTIONS[command])
    given: dict[str, list[str]] = {}
    arguments: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--" or not word.startswith("-") or word == "-":
            arguments += rest if word == "--" else [word]
            if word == "--" or command in ENDS_OPTIONS:
                arguments += [] if word == "--" else rest
                break
            continue
        for name, value in _options(command, word, rest, flags, takes):
            given.setdefault(name, []).append(value)
    _counted(command, arguments)
    for name in given:
        if name in NOT_PLAYED.get(command, "").split():
            raise Refused(f"docker: the option --{name} is not simulated on a rehearsal host.", 125)
    return given, arguments


def _named(text: str) -> dict[str, str]:
    """Every way to write an option, without its dashes -> its long name."""
    found = {}
    for one in text.split(", ") if text else []:
        long, _, short = one.partition(" ")
        found[long] = long
        if short:
            found[short] = long
    return found


def _options(
    command: str, word: str, rest: list[str], flags: dict[str, str], takes: dict[str, str]
) -> list[tuple[str, str]]:
    """The options that one word holds, such as -it; a value is taken from `rest` when it does not stand in the word."""
    if word.startswith("--"):
        name, sign, value = word[2:].partition("=")
        name = SAME.get(name, name)
        if len(name) > 1 and name in flags:
            return [] if value == "false" else [(name, "")]
        if len(name) > 1 and name in takes:
            return [(name, value if sign else _next(f"--{name}", command, rest))]
        raise Refused(f"unknown flag: --{name}\nSee 'docker {command} --help'.", 125)
    found = []
    for index, letter in enumerate(word[1:], 1):
        if letter in takes:
            value = word[index + 1 :].removeprefix("=") or _next(f"'{letter}' in {word}", command, rest)
            return [*found, (takes[letter], value)]
        if letter not in flags:
            raise Refused(f"unknown shorthand flag: '{letter}' in {word}\nSee 'docker {command} --help'.", 125)
        found.append((flags[letter], ""))
    return found


def _next(named: str, command: str, rest: list[str]) -> str:
    if not rest:
        raise Refused(f"flag needs an argument: {named}\nSee 'docker {command} --help'.", 125)
    return rest.pop(0)


def _counted(command: str, arguments: list[str]) -> None:
    least, most = COUNTS[command]
    count = len(arguments)
    if count >= least and (most is None or count <= most):
        return
    if most == 0:
        wanted = "accepts no arguments"
    else:
        kind = "at least" if most is None else "at most" if least == 0 else "exactly"
        number = least or most
        wanted = f"requires {kind} {number} argument{'' if number == 1 else 's'}"
    raise Refused(f"\"docker {command}\" {wanted}.\nSee 'docker {command} --help'.")
