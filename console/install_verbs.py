"""What `pilot install` does: choose a stack for hosts with NPUs, show, export, try or carry out its plan."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.errors import DataError, InvalidInput, NotFound
from console.settings import actor
from console.terminal import FAILED, OK, WRONG_INPUT, t, words
from console.text import say

if TYPE_CHECKING:
    from console.hosts.inventory import Host
    from console.jobs.installing import Looked
    from console.jobs.stacks import Wish
    from console.plans.step import Step

Verb = Callable[..., argparse.ArgumentParser]


def register(found: Any, verb: Verb, as_json: Callable[[argparse.ArgumentParser], None]) -> None:
    """Put `pilot install` into the command line."""
    one = verb(found, "install", install, t("Install driver, CANN and vLLM on hosts with NPUs, in versions that fit."))
    one.add_argument("host", nargs="+", metavar=t("HOST"), help=t("name of a host; several are installed side by side"))
    one.add_argument("--route", choices=("venv", "docker"), help=t("only this way to run the engine"))
    one.add_argument("--stack", default="", metavar=t("VERSION"), help=t("release of vllm-ascend (default: the best)"))
    one.add_argument(
        "--index", action="store_true", help=t("take packages from the indexes the host reaches, not from a folder")
    )
    one.add_argument(
        "--packages",
        default="",
        metavar=t("FOLDER"),
        help=t("folder on the host (default: packages in its work folder)"),
    )
    one.add_argument(
        "--remove", action="store_true", help=t("take back what the console installed, but not the driver")
    )
    one.add_argument("--dry-run", action="store_true", help=t("only run the check of every step; nothing is changed"))
    one.add_argument("--runbook", metavar=t("FILE"), help=t("only write the plan as one shell script; - prints it"))
    one.add_argument("--yes", action="store_true", help=t("answer yes to what a step asks, a restart too"))
    as_json(one)


def install(chosen: argparse.Namespace) -> int:
    """0 installed (or shown), 1 a step failed or would not hold, 2 nothing of that kind fits."""
    from console.hosts import inventory

    try:
        inventory.this_machine()
        hosts = [inventory.named(name) for name in dict.fromkeys(chosen.host)]
        wish = _wish(chosen)
        plans = {host: _steps(host, wish, removes=chosen.remove) for host in hosts}
        if chosen.runbook and len(hosts) > 1:
            raise InvalidInput(say("Write one runbook at a time: name one host."))
    except (InvalidInput, NotFound) as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    if chosen.runbook:
        return _write(plans[hosts[0]], chosen.runbook)
    if chosen.dry_run:
        return _dry(plans, as_json=chosen.json)
    return _carry_out(plans, wish, chosen)


def _wish(chosen: argparse.Namespace) -> "Wish":
    from console.jobs.stacks import Wish
    from console.plans.ascend import Source
    from console.plans.refusals import Route

    route = Route(chosen.route) if chosen.route else None
    return Wish(route, chosen.stack, Source.INDEX if chosen.index else Source.FOLDER, chosen.packages)


def _steps(host: "Host", wish: "Wish", *, removes: bool) -> "Sequence[Step]":
    from console.jobs import installing

    return installing.removal(host, wish) if removes else installing.steps(host, wish)


def _write(steps: "Sequence[Step]", file: str) -> int:
    from console.plans.runbook import runbook

    text = runbook(steps)
    if file == "-":
        print(text, end="")
        return OK
    try:
        Path(file).write_text(text, "utf-8")
        Path(file).chmod(0o755)
    except OSError as error:
        raise DataError(say("{file} cannot be written: {error}", file=file, error=str(error))) from error
    print(t("{count} steps written to {file}", count=len(steps), file=file))
    return OK


def _dry(plans: "dict[Host, Sequence[Step]]", *, as_json: bool) -> int:
    """0 whatever the checks say: a dry run asks, it does not judge; 1 when a host could not be asked."""
    from console.jobs import installing

    looked = installing.dry_runs(plans)
    if as_json:
        print(json.dumps({host.name: list(map(_plain, looked[host])) for host in looked}, ensure_ascii=False, indent=2))
    else:
        for host, rows in looked.items():
            _table(host, rows)
    return FAILED if any(one.state == "unknown" for rows in looked.values() for one in rows) else OK


def _plain(one: "Looked") -> dict[str, object]:
    return {"step": one.step.name, "title": str(one.step.title), "state": one.state, "said": str(one.words)}


def _table(host: "Host", rows: "Sequence[Looked]") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=words(host.label), box=None, pad_edge=False, title_justify="left")
    for head in ("#", t("step"), t("now"), t("what its check says")):
        table.add_column(head, overflow="fold")
    for number, one in enumerate(rows, 1):
        table.add_row(str(number), words(one.step.title), words(one.standing), words(one.words))
    Console(highlight=False, markup=False).print(table)


def _carry_out(plans: "dict[Host, Sequence[Step]]", wish: "Wish", chosen: argparse.Namespace) -> int:
    """Queue one job for each host, then follow them; they run side by side, and go on if this is interrupted."""
    from console import headless
    from console.jobs import history, installing
    from console.jobs.supervise import ensure_worker

    ensure_worker()
    started = {}
    for host in plans:
        begin = installing.start_removal if chosen.remove else installing.start
        started[host] = begin(host.id, wish, actor=actor())
    good = {host: headless.follow(number, None, yes=chosen.yes) for host, number in started.items()}
    if chosen.json:
        rows = {host.name: _outcome(history.job(number)) for host, number in started.items()}
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        for host, number in started.items():
            if good[host]:
                print(t("{host}: done, job {job}", host=host.label, job=number))
            else:
                headless.explain(history.job(number))
    return OK if all(good.values()) else FAILED


def _outcome(job: Any) -> dict[str, object]:
    steps = [_step_outcome(one) for one in job.steps]
    return {"job": job.id, "state": str(job.state), "reason": None if job.reason is None else str(job.reason),
            "steps": steps}  # fmt: skip


def _step_outcome(one: Any) -> dict[str, object]:
    from console.diagnose.findings import findings

    found = [each.plain() for each in findings(one.log())] if one.state == "failed" else []
    reason = None if one.reason is None else str(one.reason)
    return {"step": one.step.name, "state": str(one.state), "seconds": one.elapsed, "reason": reason, "findings": found}
