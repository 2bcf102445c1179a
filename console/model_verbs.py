"""What `pilot models` does: search hosts for models, judge one, get one from a hub, send one from here."""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.errors import InvalidInput, NotFound
from console.settings import actor
from console.terminal import FAILED, OK, WRONG_INPUT, t, words

if TYPE_CHECKING:
    from console.serving.problems import Problem
    from console.serving.weights import ModelFolder

Verb = Callable[..., argparse.ArgumentParser]


def register(found: Any, verb: Verb, as_json: Callable[[argparse.ArgumentParser], None]) -> None:
    """Put `pilot models` and its own verbs into the command line."""
    about = t("Models on hosts: scan, check, fetch from a hub, push from here.")
    own = found.add_parser("models", help=about, description=about)
    verbs = own.add_subparsers(title=t("verbs"), metavar=t("VERB"), required=True)
    scan_ = verb(verbs, "scan", scan, t("Search a host for model folders and judge each."))
    scan_.add_argument("host", metavar=t("HOST"), help=t("name of a host; local is this machine"))
    scan_.add_argument(
        "--below",
        action="append",
        default=[],
        metavar=t("FOLDER"),
        help=t("search here instead of the usual places; repeat it for more"),
    )
    scan_.add_argument("--last", action="store_true", help=t("show what the last search saw, without asking the host"))
    check_ = verb(verbs, "check", check, t("Look through one model folder; 0 it can be served, 1 it cannot."))
    check_.add_argument("host", metavar=t("HOST"), help=t("name of a host; local is this machine"))
    check_.add_argument("folder", metavar=t("FOLDER"), help=t("whole path of the folder on the host"))
    check_.add_argument("--chip", default="", help=t("judge it for this chip, such as 910B4"))
    check_.add_argument("--release", default="", help=t("release of vllm-ascend (default 0.23.0)"))
    check_.add_argument("--container", action="store_true", help=t("judge it for a server in a container"))
    fetch_ = verb(verbs, "fetch", fetch, t("Let hosts fetch a model from ModelScope or Hugging Face."))
    fetch_.add_argument("model", metavar=t("MODEL"), help=t("OWNER/NAME as the hub has it"))
    push_ = verb(verbs, "push", push, t("Send a model folder of this machine to hosts, verified there."))
    push_.add_argument("folder", metavar=t("FOLDER"), help=t("the model folder on this machine"))
    for one in (fetch_, push_):
        one.add_argument("host", nargs="+", metavar=t("HOST"), help=t("name of a host; several get it side by side"))
        one.add_argument(
            "--into", default="", metavar=t("FOLDER"), help=t("where models lie there (default: the work folder)")
        )
    fetch_.add_argument(
        "--hub", choices=("modelscope", "huggingface"), default="modelscope", help=t("which hub (default modelscope)")
    )
    fetch_.add_argument("--revision", default="", help=t("branch, tag or commit (default: the hub's main branch)"))
    fetch_.add_argument(
        "--endpoint", default="", metavar="URL", help=t("address of the hub or a mirror (default: the catalog's)")
    )
    fetch_.add_argument("--dry-run", action="store_true", help=t("only print the steps; nothing is changed"))
    push_.add_argument("--limit", type=float, metavar="MB/S", help=t("megabytes per second for all hosts together"))
    for one in (scan_, check_, fetch_, push_):
        as_json(one)


def scan(chosen: argparse.Namespace) -> int:
    """0 whatever was found: a search judges nothing but the folders."""
    from console.hosts import inventory
    from console.serving import survey

    inventory.this_machine()
    host = inventory.named(chosen.host)
    seen = survey.last(host) if chosen.last else survey.survey(host, [str(Path(one)) for one in chosen.below])
    if seen is None:
        print(t("{host} was never searched for models.", host=host.label), file=sys.stderr)
        return FAILED
    if chosen.json:
        plain = {"time": seen.time, "cut": seen.cut, "models": [_plain(one, list(one.problems)) for one in seen.models]}
        print(json.dumps(plain, ensure_ascii=False, indent=2))
        return OK
    for one in seen.models:
        _print(one, list(one.problems))
    age = round((time.time() - seen.time) / 60)
    print(t("{count} model folders, seen {n} min ago.", count=len(seen.models), n=age))
    if seen.cut:
        print(t("The search did not come to its end: name the folders with --below."))
    return OK


def check(chosen: argparse.Namespace) -> int:
    """0 it can be served there, 1 it cannot."""
    from console.catalog.knowledge import known
    from console.catalog.quantizations import NEWEST
    from console.hosts import inventory
    from console.serving.shelf import model_on
    from console.serving.traps import Place, problems_at

    inventory.this_machine()
    host = inventory.named(chosen.host)
    family = ""
    if chosen.chip:
        chip = known().chip(chosen.chip)
        if chip is None:
            print(t("There is no chip {chip} in the catalog.", chip=chosen.chip), file=sys.stderr)
            return WRONG_INPUT
        family = chip.family
    model = model_on(host, chosen.folder)
    problems = problems_at(model, Place(family, chosen.release or NEWEST, container=chosen.container))
    if chosen.json:
        print(json.dumps(_plain(model, problems), ensure_ascii=False, indent=2))
    else:
        _print(model, problems)
    return FAILED if any(one.is_error for one in problems) else OK


def fetch(chosen: argparse.Namespace) -> int:
    """0 every host has it, 1 one has not, 2 wrong input."""
    from console.hosts import inventory
    from console.jobs import weights_fetching
    from console.plans import weights
    from console.plans.weights_hub import remote

    try:
        inventory.this_machine()
        hosts = [inventory.named(name) for name in dict.fromkeys(chosen.host)]
        one = remote(chosen.hub, chosen.model, chosen.revision, chosen.endpoint)
        if chosen.dry_run:
            for host in hosts:
                for step in weights.plan(one, weights_fetching.target(host, one, chosen.into)):
                    print(f"# {words(step.title)}\n{step.script}")
            return OK
        numbers = [weights_fetching.start(host, one, into=chosen.into, actor=actor()) for host in hosts]
    except (InvalidInput, NotFound) as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    return _follow(numbers, as_json=chosen.json)


def push(chosen: argparse.Namespace) -> int:
    """0 every host has it, 1 one has not, 2 wrong input."""
    from console.hosts import inventory
    from console.jobs import weights_pushing

    folder = Path(chosen.folder).expanduser().absolute()
    try:
        inventory.this_machine()
        hosts = [inventory.named(name).id for name in dict.fromkeys(chosen.host)]
        numbers = weights_pushing.start(folder, hosts, limit_mb=chosen.limit, into=chosen.into, actor=actor())
    except (InvalidInput, NotFound) as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    return _follow(numbers, as_json=chosen.json)


def _follow(numbers: list[int], *, as_json: bool) -> int:
    """Until every job has ended; they run side by side, and go on if this is interrupted."""
    from console import headless
    from console.jobs import history
    from console.jobs.supervise import ensure_worker

    ensure_worker()
    good = [headless.follow(number, None, yes=False) for number in numbers]
    ended = [history.job(number) for number in numbers]
    if as_json:
        rows = [{"job": one.id, "state": one.state, "reason": one.reason and str(one.reason)} for one in ended]
        print(json.dumps({"succeeded": all(good), "jobs": rows}, ensure_ascii=False, indent=2))
    else:
        for one in ended:
            if one.state == "succeeded":
                print(one.steps[-1].log().strip())
            else:
                headless.explain(one)
    return OK if all(good) else FAILED


def _plain(model: "ModelFolder", problems: "list[Problem]") -> dict[str, object]:
    return {
        "folder": model.folder,
        "usable": not any(one.is_error for one in problems),
        "architecture": model.architecture,
        "parameters": model.parameters,
        "weight_bytes": model.weight_bytes,
        "stored": dict(model.types),
        "quantization": model.quantization,
        "findings": [
            {
                "trap": one.trap.value,
                "error": one.is_error,
                "seen": str(one.seen),
                "why": str(one.why),
                "fix": str(one.fix),
            }
            for one in problems
        ],
    }


def _print(model: "ModelFolder", problems: "list[Problem]") -> None:
    stored = ", ".join(sorted(model.types)) or "-"
    figures = f"{model.parameters / 1e9:.2f} B · {model.weight_bytes / 2**30:.2f} GiB · {stored}"
    print(f"{model.folder}\n    {model.architecture or '-'} · {figures} · {model.quantization or '-'}")
    for one in problems:
        level = t("error") if one.is_error else t("warning")
        print(f"    {level}: {words(one.seen)}\n        {words(one.why)}\n        {words(one.fix)}")
