"""What each verb of the `pilot` command does."""

import argparse
import json
import sys
import threading
import webbrowser

from rich.console import Console
from rich.table import Table

from console.errors import ConsoleError
from console.facts.decoding import decoded
from console.terminal import FAILED, OK, WRONG_INPUT, t, words


def up(chosen: argparse.Namespace) -> int:
    """Serve until interrupted; jobs, instances and the worker go on afterwards."""
    from console.hosts import inventory
    from console.jobs.supervise import end_idle_worker
    from console.surface import server
    from console.surface.link import link

    place = server.bind(chosen.port)
    inventory.this_machine()  # a database that cannot be used is said instead of a link that would lead nowhere
    where = link(chosen.port)
    print(t("The console is at {link}", link=where), flush=True)
    print(
        t(
            "Only this machine can open it. From elsewhere: ssh -L {port}:127.0.0.1:{port} this-machine, then the "
            "same link. End it with Ctrl-C; jobs and instances go on.",
            port=str(chosen.port),
        ),
        flush=True,
    )
    if not chosen.no_browser:
        threading.Timer(1.0, webbrowser.open, [where]).start()
    server.serve(place, chosen.port)
    print(
        t("The pages are closed.")
        if end_idle_worker()
        else t(
            "The pages are closed. Jobs and instances go on with the worker; `pilot stop --all` stops the instances, "
            "`pilot worker --stop` the worker."
        )
    )
    return OK


def worker(chosen: argparse.Namespace) -> int:
    """Run the worker, or end the one that runs."""
    from console.jobs.supervise import end_worker
    from console.jobs.worker import AlreadyRunning, Worker

    if chosen.stop:
        print(t("The worker was ended.") if end_worker() else t("No worker runs for this data folder."))
        return OK
    try:
        Worker().run()
    except AlreadyRunning:
        print(t("A worker runs for this data folder already."), file=sys.stderr)
        return FAILED
    return OK


def doctor(chosen: argparse.Namespace) -> int:
    """What is installed, where the data is, is the worker alive."""
    from console.doctor import examine

    found = examine(chosen.port)
    if chosen.json:
        print(json.dumps([line.to_json() for line in found], ensure_ascii=False, indent=2))
    else:
        table = Table(show_header=False, box=None, pad_edge=False)
        for line in found:
            table.add_row({"ok": "●", "warn": "▲", "fail": "■"}[line.level], words(line.title), words(line.seen))
            if line.fix is not None:
                table.add_row("", "", f"→ {words(line.fix)}")
        Console(highlight=False, markup=False).print(table)
    return FAILED if any(line.level == "fail" for line in found) else OK


def run(chosen: argparse.Namespace) -> int:
    """The whole path; the exit code tells whether it ended with a measured answer."""
    from console import headless
    from console.hosts import inventory
    from console.jobs import history, path
    from console.jobs.supervise import ensure_worker
    from console.settings import actor

    inventory.this_machine()
    host = inventory.named(chosen.host)
    ensure_worker()
    first = path.start_pilot(host.id, actor=actor())
    journey = history.job(first).journey
    shown = Console(stderr=True, highlight=False, markup=False)
    if shown.is_terminal:
        with headless.bars_on(shown) as bars:
            good = headless.follow(journey, bars, yes=chosen.yes)
    else:
        good = headless.follow(journey, None, yes=chosen.yes)
    return headless.report(journey, host.id, good=good, as_json=chosen.json)


def stop(chosen: argparse.Namespace) -> int:
    """Wish instances down and wait until their processes are gone."""
    from console.serving import instances, stopping
    from console.settings import actor

    if bool(chosen.instance) == chosen.all:
        print(t("Name one instance, or use --all."), file=sys.stderr)
        return WRONG_INPUT
    which = instances.instances() if chosen.all else [instances.named(chosen.instance)]
    left: dict[str, str] = {}
    for one in which:
        try:
            stopping.stop(one.id, actor=actor())
        except ConsoleError as error:
            left[one.name] = words(error.text)
    if chosen.json:
        print(
            json.dumps(
                {"stopped": [one.name for one in which if one.name not in left], "failed": left}, ensure_ascii=False
            )
        )
    else:
        for one in which:
            print(f"{one.name}: {left.get(one.name) or t('stopped')}")
        if not which:
            print(t("There is no instance."))
    return FAILED if left else OK


def parse(chosen: argparse.Namespace) -> int:
    """What the output of a tool says, as JSON."""
    from console.facts.kinds import parse as read

    text = decoded(sys.stdin.buffer.read())
    try:
        found = read(chosen.kind, text)
    except ConsoleError as error:
        print(words(error.text), file=sys.stderr)
        return WRONG_INPUT
    print(json.dumps(found, ensure_ascii=False, indent=2))
    return OK
