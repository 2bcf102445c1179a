"""`pilot jobs` from a terminal: what the page of a job shows and lets one do, with an exit code for a script."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.__main__ import main
from console.hosts.inventory import Host
from console.jobs import as_root, history, jobs
from console.jobs.states import JobState
from console.jobs.supervise import end_worker
from console.plans.step import Step
from console.settings import settings
from console.text import say, verbatim
from tests.jobs.conftest import WorkerProcess, data, host, worker
from tests.pages import seed
from tests.running import until

__all__ = ["data", "host", "worker"]
Printed = pytest.CaptureFixture[str]
ASKS = '[ "${PILOT_ANSWER:-}" ] || { printf "Take 3 GB?" >ask; exit 75; }; [ "$PILOT_ANSWER" = yes ]'


@pytest.fixture(autouse=True)
def nobody_stays(data: Path) -> Iterator[None]:
    """A verb that lets a job go on starts a worker, as it should: it outlives the verb."""
    yield
    end_worker()


def queued(host: Host, *scripts: str) -> int:
    steps = [Step(f"step-{number}", verbatim(f"Do {number}"), script) for number, script in enumerate(scripts, 1)]
    return jobs.enqueue("test", f"host:{host.id}", host.id, say("Check {host}", host=host.title), steps, actor="ann")


def told(printed: Printed) -> dict[str, object]:
    said: dict[str, object] = json.loads(printed.readouterr().out)
    return said


def pilot(*words: str) -> int:
    return main(["jobs", *words])


def test_list_shows_the_latest_first_and_only_what_was_asked_for(host: Host, capsys: Printed) -> None:
    assert pilot("list") == 0
    assert "There is no such job." in capsys.readouterr().out
    first = queued(host, "true")
    jobs.cancel(first, actor="ann")
    second = queued(host, "true")
    assert pilot("list", "--json") == 0
    rows = told(capsys)["jobs"]
    assert isinstance(rows, list)
    assert [(one["job"], one["state"]) for one in rows] == [(second, "queued"), (first, "cancelled")]
    assert pilot("list", "--active", "--limit", "5") == 0
    said = capsys.readouterr().out
    assert "queued" in said
    assert "cancelled" not in said
    assert pilot("list", "--host", "nobody") == 2


@pytest.mark.parametrize("verb", ["show", "wait", "cancel", "resume"])
def test_a_job_that_is_not_there_is_wrong_input(host: Host, verb: str, capsys: Printed) -> None:
    assert pilot(verb, "99") == 2
    assert "There is no job 99." in capsys.readouterr().err


@pytest.mark.parametrize("number", ["abc", "-1", "9" * 40, "²"])
def test_what_is_no_number_is_told_in_a_sentence(data: object, number: str, capsys: Printed) -> None:
    with pytest.raises(SystemExit) as ended:
        pilot("show", number)
    assert ended.value.code == 2
    assert "pilot jobs" in capsys.readouterr().err


def test_a_failed_job_is_shown_mended_and_goes_on(host: Host, worker: WorkerProcess, capsys: Printed) -> None:
    number = str(queued(host, "echo first", "echo 没有空间; exit 3", "echo last"))
    worker.start()
    assert pilot("wait", number) == 1
    assert "exit code 3" in capsys.readouterr().out
    assert pilot("show", number, "--log", "step-2") == 0
    assert "没有空间" in capsys.readouterr().out
    assert pilot("show", number, "--script", "2") == 0
    assert "exit 3" in capsys.readouterr().out
    assert pilot("show", number, "--log", "9") == 2
    assert "1 step-1, 2 step-2, 3 step-3" in capsys.readouterr().err
    assert pilot("skip", number, "2") == 2
    assert "Say why" in capsys.readouterr().err
    assert pilot("skip", number, "step-2", "--reason", "done by hand") == 0
    assert f"pilot jobs resume {number}" in capsys.readouterr().out
    assert pilot("skip", number, "1", "--reason", "x") == 1, "it is done"
    assert pilot("resume", number) == 0
    assert pilot("wait", number) == 0
    capsys.readouterr()
    assert pilot("show", number, "--json") == 0
    said = told(capsys)
    assert (said["state"], said["attempt"]) == ("succeeded", 2)
    steps = said["steps"]
    assert isinstance(steps, list)
    assert [(one["state"], one["reason"]) for one in steps][1] == ("skipped", "done by hand")
    assert pilot("resume", number) == 1
    assert pilot("retry", number, "1") == 1
    assert "only when its job has stopped" in capsys.readouterr().err


def test_a_step_is_done_again(host: Host, worker: WorkerProcess, capsys: Printed) -> None:
    count = settings().data / "count"
    number = str(queued(host, f"echo x >>'{count}'", "exit 3"))
    worker.start()
    assert pilot("wait", number) == 1
    assert pilot("retry", number, "step-1") == 0
    assert f"pilot jobs wait {number}" in capsys.readouterr().out
    assert pilot("wait", number) == 1
    assert count.read_text().split() == ["x", "x"]


@pytest.mark.parametrize(("said", "code"), [("yes", 0), ("no", 1)])
def test_a_question_is_shown_and_answered(
    host: Host, worker: WorkerProcess, capsys: Printed, said: str, code: int
) -> None:
    number = str(queued(host, ASKS))
    assert pilot("answer", number, said) == 1, "it asks nothing yet"
    worker.start()
    assert pilot("wait", number) == 1, "nobody answered: a script that waits must not hang"
    shown = capsys.readouterr().out
    assert "Take 3 GB?" in shown
    assert f"pilot jobs answer {number} yes" in shown
    assert pilot("answer", number, said) == 0
    assert pilot("wait", number) == code, "the answer that is on its way is not asked for again"


def test_a_running_job_is_cancelled(host: Host, worker: WorkerProcess, capsys: Printed) -> None:
    number = queued(host, "sleep 300")
    worker.start()
    until(lambda: history.job(number).state == JobState.RUNNING)
    assert pilot("cancel", str(number)) == 0
    assert pilot("wait", str(number), "--json") == 1
    assert history.job(number).state == JobState.CANCELLED
    assert pilot("cancel", f"#{number}") == 0, "it has ended, which was what was wanted"


def test_a_password_is_never_answered_with_yes(host: Host, capsys: Printed) -> None:
    number = queued(host, "true")
    seed.end(number, JobState.WAITING, failing=1, question=as_root.question(host))
    assert pilot("answer", str(number), "yes") == 2
    assert f"pilot hosts sudo {host.name}" in capsys.readouterr().err
    assert [one for one in history.events(f"job:{number}") if one.became == "answered"] == []


def test_it_speaks_chinese(host: Host, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    number = queued(host, "true")
    assert pilot("show", str(number)) == 0
    assert "排队" in capsys.readouterr().out
