"""What each verb of the `pilot` command does."""

import argparse
import json
import sys
import threading
import time
import webbrowser
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from console.errors import ConsoleError
from console.jobs.history import JobView
from console.jobs.jobs import say_state
from console.terminal import FAILED, OK, WRONG_INPUT, t, words

TICK_S = 0.3


def up(chosen: argparse.Namespace) -> int:
    """Serve until interrupted; jobs, instances and the worker go on afterwards."""
    from console.jobs.supervise import end_idle_worker
    from console.surface import server
    from console.surface.link import link

    place = server.bind(chosen.port)
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
        with _bars(shown) as bars:
            good = _follow(journey, bars, yes=chosen.yes)
    else:
        good = _follow(journey, None, yes=chosen.yes)
    return _report(journey, host.id, good=good, as_json=chosen.json)


def _bars(shown: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[at]}", markup=False),
        TimeElapsedColumn(),
        console=shown,
    )


def _follow(journey: int, bars: Progress | None, *, yes: bool) -> bool:
    """Show every job of the path until one stops it or the last has ended; a line a step where there is no terminal."""
    from console.jobs import history, jobs
    from console.jobs.states import JobState
    from console.settings import actor

    shown: dict[int, Any] = {}
    while True:
        chain = history.journey(journey)
        for job in chain:
            _show(job, bars, shown)
        last = chain[-1]
        if last.state == JobState.WAITING and last.question is not None:
            jobs.answer(last.id, "yes" if yes else _asked(words(last.question), bars), actor=actor())
        if last.state in (JobState.FAILED, JobState.CANCELLED) or (last.state == JobState.SUCCEEDED and not last.then):
            return last.state == JobState.SUCCEEDED
        time.sleep(TICK_S)


def _show(job: JobView, bars: Progress | None, shown: dict[int, Any]) -> None:
    at = f"{words(job.title)}: {_current(job)}"
    if bars is None:
        if shown.get(job.id) != at:
            print(at, file=sys.stderr, flush=True)
        shown[job.id] = at
        return
    if job.id not in shown:
        shown[job.id] = bars.add_task(words(job.title), total=len(job.steps), at="")
    bars.update(shown[job.id], completed=job.done, at=_current(job))
    if not job.active:
        bars.stop_task(shown[job.id])


def _asked(question: str, bars: Progress | None) -> str:
    if bars is None or not sys.stdin.isatty():
        print(
            t("{question} (Nobody is here to answer: use --yes, or answer on the page of the job.)", question=question),
            file=sys.stderr,
        )
        return "no"
    bars.stop()
    typed = input(f"{question} [yes/no] ").strip().lower()
    bars.start()
    return "yes" if typed in ("y", "yes", "是") else "no"


def _current(job: JobView) -> str:
    current = job.current
    if job.reason is not None:
        return words(job.reason)
    return words(current.step.title) if current is not None else words(say_state(job.state))


def _report(journey: int, host_id: int, *, good: bool, as_json: bool) -> int:
    """One answer and the table of figures; on a failure what failed, why, and the end of its log."""
    from console.bench import runs
    from console.jobs import history
    from console.serving.conversations import last_answer

    chain = history.journey(journey)
    began = chain[0].started or chain[0].created
    mine = [one for one in runs.runs(host_id) if one.started >= began][::-1]
    answer = last_answer()
    if as_json:
        print(
            json.dumps(
                {
                    "succeeded": good,
                    "jobs": [
                        {
                            "id": job.id,
                            "kind": job.kind,
                            "state": job.state,
                            "seconds": job.elapsed,
                            "reason": None if job.reason is None else str(job.reason),
                        }
                        for job in chain
                    ],
                    "answer": answer.text if good and answer else None,
                    "runs": [
                        {
                            "concurrency": one.concurrency,
                            "requests": len(one.requests),
                            "ttft_p50_s": one.ttft_p50_s,
                            "ttft_p95_s": one.ttft_p95_s,
                            "tpot_mean_s": one.tpot_mean_s,
                            "tokens_per_s": one.tokens_per_s,
                        }
                        for one in mine
                    ]
                    if good
                    else [],
                },
                ensure_ascii=False,
                indent=2,
            )
        )
        return OK if good else FAILED
    if not good:
        _explain(chain[-1])
        return FAILED
    print(answer.text if answer else "")
    table = Table()
    for head in (t("at a time"), t("requests"), "TTFT p50", "TTFT p95", "TPOT", "tokens/s"):
        table.add_column(head, justify="right")
    for one in mine:
        tpot = "–" if one.tpot_mean_s is None else f"{one.tpot_mean_s * 1000:.1f} ms"
        table.add_row(
            str(one.concurrency),
            str(len(one.requests)),
            f"{one.ttft_p50_s * 1000:.0f} ms",
            f"{one.ttft_p95_s * 1000:.0f} ms",
            tpot,
            f"{one.tokens_per_s:.1f}",
        )
    Console(highlight=False).print(table)
    return OK


def _explain(job: JobView) -> None:
    print(f"#{job.id} {words(job.title)}: {words(job.reason) or job.state}", file=sys.stderr)
    if job.current is not None:
        print("\n".join(job.current.log().splitlines()[-20:]), file=sys.stderr)


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

    text = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    try:
        found = read(chosen.kind, text)
    except ConsoleError as error:
        print(words(error.text), file=sys.stderr)
        return WRONG_INPUT
    print(json.dumps(found, ensure_ascii=False, indent=2))
    return OK
