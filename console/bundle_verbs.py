"""What `pilot bundle` does: build a folder for hosts without internet, verify it, push it."""

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from console.errors import DataError, InvalidInput, NotFound
from console.terminal import FAILED, OK, UNREACHABLE, WRONG_INPUT, language, t, words
from console.text import say, verbatim

if TYPE_CHECKING:
    from console.bundles.contents import Contents
    from console.bundles.delivery import Progress
    from console.bundles.manifest import Manifest
    from console.catalog.knowledge import Knowledge
    from console.hosts.inventory import Host

MB = 1_000_000
LINE_S = 2.0
"""Seconds between two lines of progress about the same thing."""
Verb = Callable[[Any, str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]


def register(found: Any, verb: Verb, as_json: Callable[[argparse.ArgumentParser], None]) -> None:
    """`pilot bundle` and its own verbs; `verb` and `as_json` are how the whole command line makes them."""
    about = t("Bundles for hosts without internet: build, take in, verify, push.")
    bundle = found.add_parser("bundle", help=about, description=about)
    verbs = bundle.add_subparsers(title=t("verbs"), metavar=t("VERB"), required=True)
    build_ = verb(verbs, "build", build, t("Fetch all that a stack needs into a folder, and tell what you must bring."))
    build_.add_argument(
        "--stack", required=True, metavar=t("VERSION"), help=t("release of vllm-ascend, such as 0.23.0")
    )
    build_.add_argument("--chip", required=True, help=t("chip as npu-smi prints it, such as 910B4"))
    build_.add_argument("--os", required=True, help=t("operating system as ID-VERSION_ID, such as ubuntu-22.04"))
    build_.add_argument("--arch", required=True, help=t("aarch64 or x86_64"))
    build_.add_argument("--python", default="", help=t("version of Python on the hosts; default: the newest that fits"))
    build_.add_argument("--route", choices=("venv", "docker"), required=True, help=t("how the engine is to run"))
    build_.add_argument("--driver", default="", help=t("version of the driver that is there; without it one is added"))
    build_.add_argument(
        "--mirror", default="", metavar="URL", help=t("package index to ask instead of those of the catalog")
    )
    build_.add_argument("--list", default="", metavar=t("FILE"), help=t("list of all packages, name==version lines"))
    build_.add_argument("--weights", default="", metavar=t("FOLDER"), help=t("folder of a model to take along"))
    check = verb(
        verbs, "verify", verify, t("Name every file that is missing, damaged, partial, foreign or unexpected.")
    )
    taken = verb(verbs, "take", take, t("Take in what you brought, without internet: judge each awaited file."))
    send = verb(verbs, "push", push, t("Bring a bundle to hosts; doing it again goes on where it stopped."))
    for one in (build_, check, taken, send):
        one.add_argument("folder", metavar=t("FOLDER"), help=t("the folder of the bundle"))
        as_json(one)
    send.add_argument("host", nargs="+", metavar=t("HOST"), help=t("name of a host; local is this machine"))
    send.add_argument(
        "--limit", type=float, default=None, metavar="MB/s", help=t("megabytes per second for all hosts together")
    )


def build(chosen: argparse.Namespace) -> int:
    """0 the bundle is complete, 1 something is missing (it is named), 2 wrong input."""
    from console.bundles.build import build as fill
    from console.bundles.fetch import client
    from console.catalog.knowledge import known

    try:
        catalog = known()
        wanted = _contents(chosen, catalog)
        weights = Path(chosen.weights).expanduser() if chosen.weights else None
        with client() as http:
            whole = fill(
                _folder(chosen),
                wanted,
                http,
                _indexes(chosen.mirror, catalog),
                mirror=chosen.mirror,
                weights=weights,
                told=_Lines().file,
            )
    except (InvalidInput, NotFound) as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    except DataError as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return FAILED
    _tell_built(whole, _folder(chosen), as_json=chosen.json)
    return FAILED if whole.missing else OK


def take(chosen: argparse.Namespace) -> int:
    """0 the bundle is complete now, 1 something is missing still, 2 no bundle there."""
    from console.bundles.taking import take as take_in

    try:
        added = take_in(_folder(chosen))[1]
    except InvalidInput:
        return verify(chosen)  # it says why
    if not chosen.json:
        print(t("Taken in: {count}", count=added))
    return verify(chosen)


def verify(chosen: argparse.Namespace) -> int:
    """0 everything is as the manifest says, 1 something is not, 2 no bundle there."""
    from console.bundles.verify import verify as findings_of

    try:
        findings = findings_of(_folder(chosen))
    except InvalidInput as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    if chosen.json:
        plain = {"ok": not findings, "findings": [one.plain() for one in findings]}
        print(json.dumps(plain, ensure_ascii=False, indent=2))
    else:
        for one in findings:
            print(f"{_trouble(one.trouble)}  {one.path}\n    {words(one.text)}")
        if not findings:
            print(t("Every file is as the manifest says."))
    return FAILED if findings else OK


def push(chosen: argparse.Namespace) -> int:
    """0 everything is on every host, 1 a host has no room or refused, 2 wrong input, 3 a host was not reached."""
    from console.bundles.delivery import push as bring
    from console.hosts import inventory

    try:
        inventory.this_machine()
        hosts = [inventory.named(name) for name in dict.fromkeys(chosen.host)]
        limit = None if chosen.limit is None else chosen.limit * MB
        _tell_misfits(_folder(chosen), hosts)
        ended = bring(_folder(chosen), hosts, limit=limit, told=_Lines().host)
    except (InvalidInput, NotFound) as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    for one in ended:
        if one.error is not None:
            print(f"{one.host}: {words(one.error)}", file=sys.stderr)
        elif one.delivered is not None and not chosen.json:
            done = one.delivered
            print(
                t(
                    "{host}: {files} files sent ({mb} MB), {there} were there already.",
                    host=one.host,
                    files=done.files,
                    mb=round(done.sent / MB),
                    there=done.there,
                )
            )
    if chosen.json:
        rows = [
            {
                "host": one.host,
                "delivered": None if one.delivered is None else asdict(one.delivered),
                "error": None if one.error is None else str(one.error),
            }
            for one in ended
        ]
        print(json.dumps({"ok": all(one.error is None for one in ended), "hosts": rows}, ensure_ascii=False, indent=2))
    if all(one.error is None for one in ended):
        return OK
    return UNREACHABLE if any(one.unreached for one in ended) else FAILED


def _contents(chosen: argparse.Namespace, catalog: "Knowledge") -> "Contents":
    """What the bundle must hold. InvalidInput with the reason when the release does not go on such a host."""
    from console.bundles.contents import contents
    from console.catalog.releases import python_of
    from console.plans import ascend_pins
    from console.plans.refusals import Route
    from console.plans.resolve import resolve
    from console.plans.target import Target, arch_name

    pythons = (python_of(chosen.python),) if chosen.python else ()
    target = Target(
        chip=chosen.chip.strip(),
        arch=arch_name(chosen.arch),
        system=chosen.os.strip().lower(),
        driver=chosen.driver or None,
        pythons=pythons,
    )
    found = resolve(target, catalog, [Route(chosen.route)])
    version = chosen.stack.strip().removeprefix("v")
    for stack in found.stacks:
        if stack.release.vllm_ascend == version:
            listed = _list(Path(chosen.list).expanduser()) if chosen.list else ""
            return contents(stack, target, catalog, listed or ascend_pins.lock(stack, target.arch))
    for refused in found.refused:
        if refused.release.vllm_ascend == version:
            raise InvalidInput(
                say("{version} does not go there: {why}", version=version, why=verbatim(refused.words(language())))
            )
    offered = ", ".join(dict.fromkeys(one.release.vllm_ascend for one in found.stacks))
    raise InvalidInput(
        say("There is no release {version} in the catalog. For such a host there are: {offered}", version=version,
            offered=verbatim(offered or "-"))
    )  # fmt: skip


def _list(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(say("{path} cannot be read: {error}", path=str(path), error=str(error))) from error


def _indexes(mirror: str, catalog: "Knowledge") -> list[str]:
    """The mirror, or the index this machine is set to, then those the catalog names."""
    if mirror:
        return [mirror]
    own = os.environ.get("PIP_INDEX_URL", "")
    places = [catalog.places[name].address for name in ("pypi", "vendor_index", "torch_cpu") if name in catalog.places]
    return list(dict.fromkeys(one for one in [own, *places] if one))


def _folder(chosen: argparse.Namespace) -> Path:
    return Path(chosen.folder).expanduser().resolve()


class _Lines:
    """Progress on standard error, one line every few seconds for each thing."""

    def __init__(self) -> None:
        self.said: dict[str, float] = {}
        self.lock = threading.Lock()

    def file(self, name: str, done: int, size: int | None) -> None:
        whole = "" if size is None else f" / {size / MB:.0f} MB"
        self._line(name, f"{name.lstrip('.')}: {done / MB:.0f} MB{whole}")

    def host(self, progress: "Progress") -> None:
        share = 100 * progress.done // max(1, progress.size)
        self._line(progress.host, f"{progress.host}: {share} %  {progress.file}")

    def _line(self, about: str, line: str) -> None:
        with self.lock:
            if time.monotonic() - self.said.get(about, -LINE_S) >= LINE_S:
                self.said[about] = time.monotonic()
                print(line, file=sys.stderr, flush=True)


def _tell_built(whole: "Manifest", folder: Path, *, as_json: bool) -> None:
    if as_json:
        rows = [{"path": one.path, "kind": one.kind, "why": str(one.why)} for one in whole.missing]
        print(json.dumps({"ok": not rows, **whole.plain(), "missing": rows}, ensure_ascii=False, indent=2))
        return
    order = whole.order
    if order.route == "venv":
        print(
            t(
                "For vllm-ascend {release} in a Python environment, on hosts with Python {python} ({system}, {arch}). "
                "--python builds for another.",
                release=order.vllm_ascend,
                python=order.python,
                system=order.system,
                arch=order.arch,
            )
        )
    print(t("{folder} holds {files} files, {mb} MB.", folder=str(folder), files=len(whole.files), mb=whole.size // MB))
    for one in whole.missing:
        print(f"{t('to bring')}  {folder}/{one.path}\n    {words(one.why)}")
    if whole.missing:
        print(
            t(
                "To bring: {count}. Put each just there, then: pilot bundle take {folder}",
                count=len(whole.missing),
                folder=quote(str(folder)),
            )
        )
    else:
        print(t("It is complete. Next: pilot bundle push {folder} HOST", folder=quote(str(folder))))


def _tell_misfits(folder: Path, hosts: "Sequence[Host]") -> None:
    """Before gigabytes are sent: what of the bundle is for another host than one that it goes to."""
    from console.bundles import manifest
    from console.jobs.bundling import misfits_on

    order = manifest.required(folder).order
    for host in hosts:
        for text in misfits_on(host, order):
            print(f"{words(host.label)}: {words(text)}", file=sys.stderr)


def _trouble(name: str) -> str:
    return {
        "missing": t("missing"), "damaged": t("damaged"), "to_bring": t("to bring"), "partial": t("partial"),
        "foreign": t("foreign"), "unexpected": t("unexpected"),
    }[name]  # fmt: skip
