"""The pilot path without a browser: what a terminal shows while it runs, and what it prints in the end."""

import getpass
import json
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from console.bench import runs
from console.bench.runs import Run
from console.diagnose.findings import findings
from console.errors import Conflict
from console.hosts import inventory, secrets
from console.hosts.keys import Password
from console.jobs import as_root, history, jobs
from console.jobs.history import JobView
from console.jobs.jobs import say_state
from console.jobs.states import JobState
from console.serving.conversations import last_answer
from console.settings import actor
from console.terminal import FAILED, OK, language, t, words

TICK_S = 0.3


def bars_on(shown: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[at]}", markup=False),
        TimeElapsedColumn(),
        console=shown,
    )


def follow(journey: int, bars: Progress | None, *, yes: bool) -> bool:
    """Show every job of the path until one stops it or the last has ended; a line a step where there is no terminal."""
    shown: dict[int, Any] = {}
    while True:
        chain = history.journey(journey)
        for job in chain:
            _show(job, bars, shown)
        last = chain[-1]
        if last.state == JobState.WAITING and last.question is not None:
            words_said = _answer(last, bars, yes=yes)
            with suppress(Conflict):  # the answer before this one was taken up just now
                jobs.answer(last.id, words_said, actor=actor())
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


def _answer(job: JobView, bars: Progress | None, *, yes: bool) -> str:
    """What a job is told that waits: a password for sudo goes another way."""
    host = inventory.host(job.host_id)
    if not as_root.is_asked(job.question, host):
        return "yes" if yes else _asked(words(job.question), bars)
    if bars is None or not sys.stdin.isatty():
        print(t("{question} (Nobody is here to type it.)", question=words(job.question)), file=sys.stderr)
        return "no"
    bars.stop()
    secrets.give(host.id, Password(getpass.getpass(f"{words(job.question)} ")))
    bars.start()
    return as_root.GIVEN


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


def report(journey: int, host_id: int, *, good: bool, as_json: bool) -> int:
    """One answer and the table of figures; on a failure what failed, why, and the end of its log."""
    chain = history.journey(journey)
    began = chain[0].started or chain[0].created
    mine = [one for one in runs.runs(host_id) if one.started >= began][::-1]
    answer = last_answer(host_id)
    if as_json:
        found = {
            "succeeded": good,
            "jobs": [_job_figures(job) for job in chain],
            "answer": answer.text if good and answer else None,
            "runs": [_run_figures(one) for one in mine] if good else [],
        }
        print(json.dumps(found, ensure_ascii=False, indent=2))
    elif good:
        print(answer.text if answer else "")
        _print_runs(mine)
    else:
        explain(chain[-1])
    return OK if good else FAILED


def _job_figures(job: JobView) -> dict[str, object]:
    reason = None if job.reason is None else str(job.reason)
    return {"id": job.id, "kind": job.kind, "state": job.state, "seconds": job.elapsed, "reason": reason}


def _run_figures(one: Run) -> dict[str, object]:
    return {
        "concurrency": one.concurrency,
        "requests": len(one.requests),
        "ttft_p50_s": one.ttft_p50_s,
        "ttft_p95_s": one.ttft_p95_s,
        "tpot_mean_s": one.tpot_mean_s,
        "tokens_per_s": one.tokens_per_s,
    }


def _print_runs(found: Sequence[Run]) -> None:
    table = Table()
    for head in (t("at a time"), t("requests"), "TTFT p50", "TTFT p95", "TPOT", "tokens/s"):
        table.add_column(head, justify="right", overflow="fold")
    for one in found:
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


def explain(job: JobView) -> None:
    """Why a job stopped, the end of the log of the step that stopped it, and what that log points to."""
    print(f"#{job.id} {words(job.title)}: {words(job.reason) or words(say_state(job.state))}", file=sys.stderr)
    if job.current is not None:
        log = job.current.log()
        print("\n".join(log.splitlines()[-20:]), file=sys.stderr)
        for one in findings(log):
            print(f"\n{one.cause(language())}\n  {one.evidence}\n{one.fix(language())}", file=sys.stderr)
            print("".join(f"  {command}\n" for command in one.failure.commands), end="", file=sys.stderr)
