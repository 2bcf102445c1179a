"""The `pilot` command: everything the pages do, for a terminal or a script."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from console.arguments import spoken
from console.command_line import Parser
from console.errors import ConsoleError
from console.settings import DATA_VARIABLE, DEFAULT_PORT
from console.terminal import FAILED, INTERRUPTED, t, words


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; the exit code tells: 0 done, 1 failed, 2 wrong input, 3 unreachable, 130 interrupted."""
    chosen = parser().parse_args(spoken(arguments))
    if folder := getattr(chosen, "data", None):
        os.environ[DATA_VARIABLE] = str(Path(folder).expanduser().resolve())
    try:
        code: int = chosen.verb(chosen)
        return code
    except ConsoleError as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """The whole command line, with its help in the terminal's language."""
    from console import bundle_verbs, explain_verbs, install_verbs, job_verbs, model_verbs, verbs

    whole = Parser(prog="pilot", description=t("The Ascend pilot console: from a bare host to an accepted pilot."))
    found = whole.add_subparsers(title=t("verbs"), metavar=t("VERB"), required=True)

    up = _verb(found, "up", verbs.up, t("Start the console: web server and worker, on loopback only."))
    up.add_argument("--port", type=_port, default=DEFAULT_PORT, help=t("port of the web pages (default 8501)"))
    up.add_argument("--no-browser", action="store_true", help=t("do not open a browser"))

    worker = _verb(found, "worker", verbs.worker, t("Run the worker alone, or end the one that runs."))
    worker.add_argument(
        "--stop",
        action="store_true",
        help=t("end the running worker; jobs and instances go on and are adopted by the next"),
    )

    doctor = _verb(
        found, "doctor", verbs.doctor, t("Show what is installed, where the data is, and whether the worker lives.")
    )
    doctor.add_argument("--port", type=_port, default=DEFAULT_PORT, help=t("port of the web pages (default 8501)"))
    _json(doctor)

    run = _verb(found, "run", verbs.run, t("Walk the whole path on a host, from its check to a measured answer."))
    run.add_argument("--host", default="local", help=t("name of the host (default: local, this machine)"))
    run.add_argument("--yes", action="store_true", help=t("answer yes to what a step asks"))
    _json(run)

    _hosts(found)
    install_verbs.register(found, _verb, _json)
    job_verbs.register(found, _verb, _json)
    _resolve(found)
    model_verbs.register(found, _verb, _json)
    bundle_verbs.register(found, _verb, _json)
    _checks(found)
    _profiles(found)

    _fit(found)
    explain = _verb(found, "explain", explain_verbs.explain, t("Explain a pasted command for vLLM."))
    _json(explain_verbs.options(explain))
    stop = _verb(found, "stop", verbs.stop, t("Stop an instance, or all of them."))
    stop.add_argument("instance", nargs="?", metavar=t("INSTANCE"), help=t("name or number of the instance"))
    stop.add_argument("--all", action="store_true", help=t("stop every instance"))
    _json(stop)

    parse = _verb(
        found, "parse", verbs.parse, t("Read the output of a tool from standard input and print what it says as JSON.")
    )
    parse.add_argument("kind", metavar=t("KIND"), help=t("which tool printed it; an unknown kind lists them all"))
    parse.add_argument("--json", action="store_true", help=t("print JSON (this verb always does)"))
    return whole


def _hosts(found: "argparse._SubParsersAction[Parser]") -> None:
    """`pilot hosts` and its own verbs, and those about all hosts."""
    from console import fleet_verbs, host_verbs

    about = t("Hosts over SSH: add, list, test, remove, and the console's public key.")
    hosts = found.add_parser("hosts", help=about, description=about)
    verbs = hosts.add_subparsers(title=t("verbs"), metavar=t("VERB"), required=True)
    add = _verb(verbs, "add", host_verbs.add, t("Add a host, then try to log in on it."))
    add.add_argument("name", metavar=t("NAME"), help=t("what the host is called here"))
    add.add_argument("--address", required=True, help=t("host name or IP address"))
    add.add_argument("--port", type=_port, default=22, help=t("port of its SSH server (default 22)"))
    add.add_argument("--user", default="root", help=t("login name on the host (default root)"))
    add.add_argument(
        "--key", default="", metavar=t("FILE"), help=t("private key; without it the console's own is tried")
    )
    add.add_argument("--no-agent", action="store_true", help=t("leave the keys of the SSH agent out"))
    add.add_argument(
        "--jump",
        action="append",
        default=[],
        metavar="USER@HOST:PORT",
        help=t("jump host; repeat it, the nearest first"),
    )
    add.add_argument(
        "--sudo", choices=("none", "nopasswd", "password"), default="none", help=t("what sudo gives the user")
    )
    add.add_argument(
        "--folder", default="", help=t("work folder on the host (default: ascend-pilot in the user's home)")
    )
    add.add_argument("--tag", action="append", default=[], help=t("a word to group hosts by; repeat it for more"))
    test = _verb(verbs, "test", host_verbs.test, t("Log in on a host anew and tell how long that takes."))
    remove = _verb(verbs, "remove", host_verbs.remove, t("Forget a host; nothing on it is changed."))
    for one in (test, remove):
        one.add_argument("name", metavar=t("NAME"), help=t("name of the host"))
    for one in (add, test):
        one.add_argument(
            "--accept-key",
            action="append",
            default=[],
            metavar="SHA256:...",
            help=t("accept the host key with this fingerprint; repeat it for jump hosts"),
        )
    fleet_verbs.register(found, verbs, _verb, _json)
    listed = _verb(verbs, "list", host_verbs.listed, t("Every host, and when it was last asked about itself."))
    key = _verb(verbs, "key", host_verbs.key, t("Print the console's public key, for authorized_keys on a host."))
    for one in (add, test, remove, listed, key, _rehearse(verbs)):
        _json(one)


def _rehearse(verbs: "argparse._SubParsersAction[Parser]") -> argparse.ArgumentParser:
    """`pilot hosts rehearse`."""
    from console import rehearse_verbs

    rehearse = _verb(
        verbs, "rehearse", rehearse_verbs.rehearse, t("Make a rehearsal host: a real SSH server with simulated cards.")
    )
    rehearse.add_argument("scenario", nargs="?", metavar=t("SCENARIO"), help=t("what it plays; --list names them"))
    rehearse.add_argument("--name", default="", help=t("what the host is called here (default: as its scenario)"))
    instead = rehearse.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true", help=t("show the scenarios"))
    instead.add_argument(
        "--stop", default="", metavar=t("NAME"), help=t("end this rehearsal host; what it keeps stays")
    )
    instead.add_argument("--start", default="", metavar=t("NAME"), help=t("start this rehearsal host again"))
    return rehearse


def _checks(found: "argparse._SubParsersAction[Parser]") -> None:
    """`pilot check` and what belongs to it."""
    from console import check_verbs

    check = _verb(
        found,
        "check",
        check_verbs.check,
        t("Ask hosts about themselves and judge them; the exit code tells the worst."),
    )
    check.add_argument("host", nargs="+", metavar=t("HOST"), help=t("name of a host; local is this machine"))
    compare = _verb(
        found, "compare", check_verbs.compare, t("Show what differs between two hosts, by what they said last.")
    )
    for name in ("left", "right"):
        compare.add_argument(name, metavar=t("HOST"), help=t("name of a host; local is this machine"))
    for one in (check, compare):
        one.add_argument(
            "--profile",
            default="",
            help=t("what to compare with (default: what fits this machine, or two NPU cards for a host over SSH)"),
        )
    check.add_argument("--only", default="", metavar=t("CHECK"), help=t("ask again what this one check needs"))
    check.add_argument("--changes", action="store_true", help=t("also show what has changed since the check before"))
    check.add_argument(
        "--export",
        default="",
        metavar=t("FILE"),
        help=t("also write a report: a name that ends in .html, .md or .json"),
    )
    compare.add_argument("--all", action="store_true", help=t("also show what is the same"))
    waive = _verb(
        found, "waive", check_verbs.waive, t("Let a check that did not pass not count on a host, with reason and name.")
    )
    waive.add_argument("host", metavar=t("HOST"), help=t("name of a host; local is this machine"))
    waive.add_argument("check", metavar=t("CHECK"), help=t("name of the check, as pilot check --json tells it"))
    waive.add_argument("--reason", default="", help=t("why it may stay as it is"))
    waive.add_argument("--name", default="", help=t("who answers for it"))
    waive.add_argument("--profile", default="", help=t("what the check was compared with, if not the usual profile"))
    waive.add_argument("--end", action="store_true", help=t("let the check count again"))
    for one in (check, compare, waive):
        _json(one)


def _profiles(found: "argparse._SubParsersAction[Parser]") -> None:
    """`pilot profiles` and its own verbs."""
    from console import profile_verbs

    about = t("Profiles, with which hosts are compared: list, show, copy, set, remove.")
    profiles = found.add_parser("profiles", help=about, description=about)
    verbs = profiles.add_subparsers(title=t("verbs"), metavar=t("VERB"), required=True)
    listed = _verb(verbs, "list", profile_verbs.listed, t("Every profile, the built-in ones first."))
    show = _verb(verbs, "show", profile_verbs.show, t("Limits and checks of a profile, and where they come from."))
    copy = _verb(verbs, "copy", profile_verbs.copy, t("Make a profile of your own from another one."))
    change = _verb(verbs, "set", profile_verbs.change, t("Change a profile of your own."))
    remove = _verb(verbs, "remove", profile_verbs.remove, t("Forget a profile of your own."))
    for one in (show, copy, change, remove):
        one.add_argument("profile", metavar=t("PROFILE"), help=t("as pilot profiles list names it"))
    copy.add_argument("name", metavar=t("NAME"), help=t("what the new profile is called"))
    change.add_argument(
        "limit", nargs="*", metavar=t("LIMIT=VALUE"), help=t("such as cores=32 or sysctls:vm/swappiness=5")
    )
    change.add_argument("--name", default="", help=t("another name for people; what the command line calls it stays"))
    change.add_argument("--check", action="append", default=[], metavar=t("CHECK"), help=t("add this check"))
    change.add_argument(
        "--without-check", action="append", default=[], metavar=t("CHECK"), help=t("leave this check out")
    )
    for one in (listed, show, copy, change, remove):
        _json(one)


def _fit(found: "argparse._SubParsersAction[Parser]") -> None:
    """`pilot fit`."""
    from console import fit_verbs

    about = t("Whether a model fits on some cards, the longest context and the most users; 0 it fits, 1 it does not.")
    fit = _verb(found, "fit", fit_verbs.show, about)
    fit_verbs.options(fit)
    _json(fit)


def _resolve(found: "argparse._SubParsersAction[Parser]") -> None:
    """`pilot resolve` and `pilot catalog check`."""
    from console import resolve_verbs

    one = _verb(
        found,
        "resolve",
        resolve_verbs.resolve,
        t("Which releases go together on a host, best first, and why not others."),
    )
    resolve_verbs.options(one)
    about = t("What the console knows of releases, packages and chips.")
    catalog = found.add_parser("catalog", help=about, description=about)
    verbs = catalog.add_subparsers(title=t("verbs"), metavar=t("VERB"), required=True)
    check = _verb(verbs, "check", resolve_verbs.check_catalog, t("Look for faults in it, your own entries too."))
    for verb in (one, check):
        _json(verb)


def _verb(
    found: "argparse._SubParsersAction[Parser]", name: str, verb: Callable[[argparse.Namespace], int], about: str
) -> argparse.ArgumentParser:
    one = found.add_parser(name, help=about, description=about)
    one.set_defaults(verb=verb)
    return one


def _json(one: argparse.ArgumentParser) -> None:
    one.add_argument("--json", action="store_true", help=t("print one JSON object instead of words"))


def _port(words: str) -> int:
    if words.isdecimal() and 1 <= int(words) <= 65535:
        return int(words)
    raise argparse.ArgumentTypeError(t("{words} is not a port (1 to 65535)", words=words))


if __name__ == "__main__":
    sys.exit(main())
