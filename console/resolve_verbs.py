"""What `pilot resolve` and `pilot catalog check` do."""

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from console.errors import InvalidInput, NotFound
from console.terminal import FAILED, OK, WRONG_INPUT, language, t, words
from console.text import Text, say, verbatim

if TYPE_CHECKING:
    from console.catalog.knowledge import Knowledge
    from console.plans.questions import WhyNot
    from console.plans.resolve import Refused, Resolution, Stack
    from console.plans.target import Target

_SHAPES: Mapping[str, tuple[str, str]] = {
    "driver": (r"\d+(?:\.(?:rc)?\d+)+", "25.5.1"),
    "firmware": (r"\d+(?:\.\d+)+", "7.8.0.6.201"),
    "glibc": (r"\d+\.\d+", "2.35"),
    "cann": (r"\d+\.\d+(?:\.(?:rc)?\d+)*", "9.1.0"),
    "python": (r"[23]\.\d{1,2}(?:\.\d+)?", "3.11"),
}
"""How a version has to look, and an example."""


def options(one: argparse.ArgumentParser) -> None:
    """The words of `pilot resolve`."""
    one.add_argument("--chip", default="", help=t("chip as npu-smi prints it, such as 910B4"))
    one.add_argument("--os", default="", help=t("operating system as ID-VERSION_ID, such as ubuntu-22.04 or kylin-v10"))
    one.add_argument("--arch", default="", help=t("aarch64 or x86_64"))
    one.add_argument("--driver", default="", help=t("version of the driver; without it none is installed yet"))
    one.add_argument("--firmware", default="", help=t("version of the firmware"))
    one.add_argument("--cann", default="", help=t("version of CANN that is installed"))
    one.add_argument("--glibc", default="", help=t("version of glibc, if it is another than that of the system"))
    one.add_argument(
        "--python", action="append", default=[], help=t("version of a Python that is there; repeat it for more")
    )
    one.add_argument("--route", choices=("venv", "docker"), help=t("only this way to run the engine"))
    one.add_argument("--stack", default="", metavar=t("VERSION"), help=t("only this release of vllm-ascend"))
    one.add_argument("--host", default="", help=t("a host of the inventory, as it was last asked about itself"))
    one.add_argument("--why-not", default="", metavar=t("WORDS"), help=t("a combination of versions or flags to judge"))


def resolve(chosen: argparse.Namespace) -> int:
    """0 at least one stack fits (or the question was answered), 1 none fits, 2 wrong input."""
    from console.catalog.knowledge import known
    from console.plans.questions import why_not

    try:
        catalog = known()
        target, unseen = _target(chosen, catalog)
        resolution = None if target is None else _resolution(chosen, target, catalog)
        answers = why_not(chosen.why_not, catalog, resolution) if chosen.why_not else None
    except (InvalidInput, NotFound) as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    wrong = None if target is None or chosen.host else _not_accepted(target, catalog)
    for reason in unseen.values():
        print(f"pilot: {words(reason)}", file=sys.stderr)
    if chosen.json:
        plain = {**(resolution.plain() if resolution else {}), **({"why_not": answers.plain()} if answers else {})}
        plain |= {"unseen": {name: str(reason) for name, reason in unseen.items()}} if chosen.host else {}
        print(json.dumps(plain | ({"error": str(wrong)} if wrong else {}), ensure_ascii=False, indent=2))
    if wrong is not None:
        print(f"pilot: {words(wrong)}", file=sys.stderr)
        return WRONG_INPUT
    if not chosen.json:
        _tell(resolution, answers)
    if resolution is not None:
        return OK if resolution.stacks else FAILED
    return OK if answers and answers.answers else WRONG_INPUT


def check_catalog(chosen: argparse.Namespace) -> int:
    """Read every file of the catalog, the user's own too; 0 without faults, 1 with some. Needs no network."""
    from console.catalog import failures, flags
    from console.catalog.entries import read
    from console.catalog.knowledge import OWN_FOLDER, faults
    from console.settings import settings

    own = settings().data / OWN_FOLDER
    tree = read(own)
    found = [*faults(tree), *flags.flaws(), *failures.flaws()]
    counts = {name: len(entries) for name, entries in tree.entries.items()}
    if chosen.json:
        rows = [
            {"file": one.file, "entry": one.entry, "field": one.field, "problem": str(one.problem)} for one in found
        ]
        plain = {"ok": not found, "own_folder": str(own), "files": tree.files, "entries": counts, "faults": rows}
        print(json.dumps(plain, ensure_ascii=False, indent=2))
        return FAILED if found else OK
    for one in found:
        print(f"{one.place}: {words(one.problem)}")
    files, entries = len(tree.files), sum(counts.values())
    print(t("{files} files, {entries} entries, {faults} faults", files=files, entries=entries, faults=len(found)))
    print(t("Your own entries belong into {folder}, in files named *.yaml.", folder=str(own)))
    return FAILED if found else OK


def _target(chosen: argparse.Namespace, catalog: "Knowledge") -> "tuple[Target | None, Mapping[str, Text]]":
    """The host that was named or described, None if only a combination was asked about; and facts it did not tell."""
    from console.catalog.releases import python_of
    from console.plans.target import Target, arch_name

    _tidy(chosen)
    for name, (pattern, example) in _SHAPES.items():
        values = getattr(chosen, name)
        for value in values if isinstance(values, list) else [values]:
            if value and not re.fullmatch(pattern, value, re.IGNORECASE):
                raise InvalidInput(_malformed(name, value, example))
    target, unseen = _of_host(chosen.host) if chosen.host else (Target("", ""), {})
    given = {
        "chip": chosen.chip.strip(),
        "arch": arch_name(chosen.arch),
        "system": _system(chosen.os, catalog),
        "driver": chosen.driver,
        "firmware": chosen.firmware,
        "cann": chosen.cann,
        "glibc": _pair(chosen.glibc),
        "pythons": tuple(map(python_of, chosen.python)),
    }
    target = replace(target, **{name: value for name, value in given.items() if value})
    if chosen.host or (target.chip and target.arch and target.system):
        return target, unseen
    if chosen.why_not and not any(given.values()):
        return None, {}
    raise InvalidInput(
        say("Describe the host with --chip, --os and --arch, name one with --host, or ask with --why-not.")
    )


def _tidy(chosen: argparse.Namespace) -> None:
    """Versions as people write them: with blanks around them, or a v in front."""
    for name in _SHAPES:
        value = getattr(chosen, name)
        tidy = [
            one.strip().removeprefix("v").removeprefix("V") for one in ([value] if isinstance(value, str) else value)
        ]
        setattr(chosen, name, tidy[0] if isinstance(value, str) else tidy)


def _of_host(name: str) -> "tuple[Target, dict[str, Text]]":
    from console.hosts import inventory, observe
    from console.plans import target as targets

    inventory.this_machine()
    host = inventory.named(name)
    seen = observe.latest(host)
    if seen is None:
        raise InvalidInput(
            say("{host} was never asked about itself. Run `pilot check {host}` first.", host=verbatim(host.name))
        )
    return targets.of_facts(seen.facts), targets.unseen(seen.facts)


def _malformed(name: str, value: str, example: str) -> Text:
    flag = verbatim(f"--{name} {value}")
    return say("{flag} is no version; write it like {example}.", flag=flag, example=example)


def _system(given: str, catalog: "Knowledge") -> str:
    """In lower case; a service pack or point release behind a known name is left out."""
    name = "-".join(given.strip().lower().split())
    near = [one for one in catalog.systems if name.startswith((f"{one}-", f"{one}.", f"{one}sp"))]
    return name if name in catalog.systems or not near else max(near, key=len)


def _pair(given: str) -> tuple[int, int] | None:
    if not given:
        return None
    major, minor = given.split(".")[:2]
    return int(major), int(minor)


def _not_accepted(target: "Target", catalog: "Knowledge") -> Text | None:
    """What of a described host no entry of the catalog is about, with the values that are accepted."""
    if catalog.called(target.chip) is None:
        names = ", ".join(name for one in catalog.chips for name in one.names)
        return _unknown("--chip", target.chip, names)
    archs = sorted({arch for one in catalog.systems.values() for arch in one.archs})
    if target.arch not in archs:
        return _unknown("--arch", target.arch, ", ".join(archs))
    if target.system not in catalog.systems:
        return _unknown("--os", target.system, ", ".join(sorted(catalog.systems)))
    return None


def _unknown(flag: str, value: str, names: str) -> Text:
    given = verbatim(f"{flag} {value}")
    return say("{given} is not known. Accepted are: {names}.", given=given, names=verbatim(names))


def _resolution(chosen: argparse.Namespace, target: "Target", catalog: "Knowledge") -> "Resolution":
    from console.plans.refusals import Route
    from console.plans.resolve import resolve as stacks_for

    found = stacks_for(target, catalog, [Route(chosen.route)] if chosen.route else tuple(Route))
    wanted = chosen.stack.strip().lower().removeprefix("v")
    if not wanted:
        return found
    names = [one.vllm_ascend for one in catalog.releases]
    if wanted not in names:
        raise NotFound(say("The console installs no release '{release}' of vllm-ascend. It installs: {names}.",
                           release=chosen.stack, names=", ".join(names)))  # fmt: skip
    return replace(
        found,
        stacks=tuple(one for one in found.stacks if one.release.vllm_ascend == wanted),
        refused=tuple(one for one in found.refused if one.release.vllm_ascend == wanted),
    )


def _tell(resolution: "Resolution | None", answers: "WhyNot | None") -> None:
    if answers is not None:
        _tell_answers(answers)
    if resolution is None:
        return
    if resolution.stacks:
        _tell_stacks(resolution)
    reasons: dict[str, list[Refused]] = {}
    for one in resolution.refused:
        reasons.setdefault(one.words(language()), []).append(one)
    everything = not resolution.stacks and len(reasons) == 1
    for reason, refused in reasons.items():
        print(f"✗ {reason}" if everything else f"✗ {_refused_words(refused)}: {reason}")
    if not resolution.stacks:
        print(t("No release fits this host."))


def _refused_words(refused: "Sequence[Refused]") -> str:
    """Each release once, with its ways: "0.7.3 (docker, venv)"."""
    ways: dict[str, list[str]] = {}
    for one in refused:
        ways.setdefault(one.release.vllm_ascend, []).append(one.route)
    return ", ".join(f"{version} ({', '.join(routes)})" for version, routes in ways.items())


def _tell_stacks(resolution: "Resolution") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for head in ("#", "vllm-ascend", "vLLM", "CANN", "torch-npu", "Python", t("way"), t("driver")):
        table.add_column(head, overflow="fold")
    for one in resolution.stacks:
        release, variant = one.release, one.variant
        versions = (release.vllm_ascend, release.vllm, variant.cann, variant.torch_npu, one.python)
        table.add_row(str(one.rank), *versions, one.route, _driver_words(one))
    Console(highlight=False, markup=False).print(table)
    best = resolution.stacks[0]
    print(t("The best: vllm-ascend {version} by {route}", version=best.release.vllm_ascend, route=best.route))
    _tell_best(best)


def _tell_best(best: "Stack") -> None:
    from console.plans.resolve import in_language

    for number, step in enumerate(best.steps, 1):
        print(f"  {number}. {words(step.text)}")
    for package in best.packages:
        behind = f" ({t('behind a login')})" if package.login else ""
        print(f"  ▪ {package.name}{behind}")
    for note in best.notes:
        print(f"  → {in_language(note, language())}")


def _driver_words(stack: "Stack") -> str:
    found = {
        "fits": t("fits"),
        "unlisted": t("in no table of the vendor"),
        "upgrade": t("upgrade to {least} or newer", least=stack.driver.least),
        "install": t("install {least} or newer", least=stack.driver.least),
    }
    return found[stack.driver.state]


def _tell_answers(answers: "WhyNot") -> None:
    from console.plans.resolve import in_language

    if not answers.answers:
        print(t("Nothing was recognised in: {words}", words=answers.asked))
        print(t("Name versions, such as CANN 6.3.0 + vLLM 0.3.1, or a flag such as --async_engine."))
    for one in answers.answers:
        print(f"{_verdict(one.verdict)} · {in_language(one.about, language())}")
        print(f"  {in_language(one.finding, language())}")
        print(f"  → {in_language(one.instead, language())}")
        print(f"  {t('Source: {source}', source=one.source)}")


def _verdict(verdict: str) -> str:
    return {
        "true": t("True"), "partly_true": t("Partly true"), "false": t("False"), "outdated": t("Outdated"),
        "misleading": t("Misleading"), "unverifiable": t("Cannot be verified"), "fits": t("Fits"), "wrong": t("Wrong"),
    }[verdict]  # fmt: skip
