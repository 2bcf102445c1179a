"""What `pilot install` does: choose a stack for hosts with NPUs, show, export, try or carry out its plan."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.errors import Conflict, DataError, InvalidInput, NotFound
from console.settings import actor
from console.terminal import FAILED, OK, WRONG_INPUT, language, t, words
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
    one.add_argument(
        "--driver",
        action="store_true",
        help=t("with --remove: the driver and the firmware too, then a restart; refused while cards are in use"),
    )
    one.add_argument("--dry-run", action="store_true", help=t("only run the check of every step; nothing is changed"))
    one.add_argument("--runbook", metavar=t("FILE"), help=t("only write the plan as one shell script; - prints it"))
    one.add_argument(
        "--results", metavar=t("FILE"), help=t("record what the exported script printed on the host; - reads it here")
    )
    one.add_argument("--no-check", action="store_true", help=t("with --results: do not ask the host as well"))
    one.add_argument("--yes", action="store_true", help=t("answer yes to what a step asks, a restart too"))
    as_json(one)


def install(chosen: argparse.Namespace) -> int:
    """0 installed (or shown), 1 a step failed or would not hold, 2 nothing of that kind fits."""
    from console.hosts import inventory

    try:
        inventory.this_machine()
        hosts = [inventory.named(name) for name in dict.fromkeys(chosen.host)]
        wish = _wish(chosen)
        if (chosen.runbook or chosen.results) and len(hosts) > 1:
            raise InvalidInput(say("Write one runbook at a time: name one host."))
        if chosen.results:
            return _record(hosts[0], chosen)
        plans = {host: _steps(host, wish, chosen) for host in hosts}
    except (InvalidInput, NotFound) as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    if chosen.runbook:
        return _write(hosts[0], wish, plans[hosts[0]], chosen)
    if chosen.dry_run:
        return _dry(plans, as_json=chosen.json)
    return _carry_out(plans, wish, chosen)


def _wish(chosen: argparse.Namespace) -> "Wish":
    from console.jobs.stacks import Wish
    from console.plans.ascend import Source
    from console.plans.refusals import Route

    route = Route(chosen.route) if chosen.route else None
    return Wish(route, chosen.stack, Source.INDEX if chosen.index else Source.FOLDER, chosen.packages)


def _steps(host: "Host", wish: "Wish", chosen: argparse.Namespace) -> "Sequence[Step]":
    from console.jobs import installing

    if chosen.remove:
        return installing.removal(host, wish, with_driver=chosen.driver)
    return installing.steps(host, wish)


def _write(host: "Host", wish: "Wish", steps: "Sequence[Step]", chosen: argparse.Namespace) -> int:
    from console.jobs import by_hand, installing

    file = chosen.runbook
    removal = installing.removal_title(host, with_driver=chosen.driver)
    title = removal if chosen.remove else installing.made(host, wish)[1]
    text = by_hand.export(host, "remove" if chosen.remove else "install", title, steps, language())
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


def _record(host: "Host", chosen: argparse.Namespace) -> int:
    """0 when every step is done, 1 when one is not or failed; errors of the text are told and nothing is recorded."""
    from console.errors import unreadable
    from console.jobs import by_hand, history
    from console.jobs.jobs import say_state

    try:
        data = sys.stdin.buffer.read() if chosen.results == "-" else Path(chosen.results).read_bytes()
    except OSError as error:
        raise unreadable(Path(chosen.results), error) from error
    pasted = data.decode("utf-8", "replace")
    plan, rows = by_hand.lines(host, pasted, check=not chosen.no_check)
    number = by_hand.write_down(host, plan, rows, actor=actor())
    if chosen.json:
        plain = {"job": number, "state": str(history.job(number).state), "steps": list(map(by_hand.described, rows))}
        print(json.dumps(plain, ensure_ascii=False, indent=2))
    else:
        for one in rows:
            print(f"{one.number:3} {words(say_state(one.state))} · {words(one.step.title)}: {words(one.words)}")
        print(t("Recorded as job {job}.", job=number))
    return OK if history.job(number).state not in ("failed", "cancelled") else FAILED


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
    from console.jobs import history
    from console.jobs.supervise import ensure_worker

    ensure_worker()
    started = {}
    for host in plans:
        try:
            started[host] = _begin(host, wish, chosen)
        except Conflict as error:  # the other hosts go on
            print(f"pilot: {words(error.text)}", file=sys.stderr)
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
    return OK if all(good.values()) and len(good) == len(plans) else FAILED


def _begin(host: "Host", wish: "Wish", chosen: argparse.Namespace) -> int:
    from console.jobs import installing

    if chosen.remove:
        return installing.start_removal(host.id, wish, actor=actor(), with_driver=chosen.driver)
    return installing.start(host.id, wish, actor=actor())


def _outcome(job: Any) -> dict[str, object]:
    steps = [_step_outcome(one) for one in job.steps]
    return {"job": job.id, "state": str(job.state), "reason": None if job.reason is None else str(job.reason),
            "steps": steps}  # fmt: skip


def _step_outcome(one: Any) -> dict[str, object]:
    from console.diagnose.findings import findings

    found = [each.plain() for each in findings(one.log())] if one.state == "failed" else []
    reason = None if one.reason is None else str(one.reason)
    return {"step": one.step.name, "state": str(one.state), "seconds": one.elapsed, "reason": reason, "findings": found}
