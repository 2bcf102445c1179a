"""Every command that is sent to a host is written down, and writing it down never breaks or delays the command."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from console import records
from console.errors import CommandTimeout, HostError
from console.hosts import commands, inventory, journal, observe
from console.hosts.commands import Command
from console.hosts.inventory import Host
from console.hosts.journal import JOURNAL, Recorded, acting, kept
from console.hosts.process import Detached
from console.hosts.runner import Outcome
from console.settings import actor
from console.text import say


class Far:
    """A host that answers everything with the same code, or with an error."""

    def __init__(self, code: int = 0, error: HostError | None = None, seconds: float = 0.1) -> None:
        self.code, self.error, self.seconds = code, error, seconds

    def run(self, script: str, *, timeout_s: float = 30, stdin: bytes = b"") -> Outcome:
        if self.error is not None:
            raise self.error
        return Outcome(self.code, "", "", self.seconds)

    def put(self, source: Path, target: str, *, timeout_s: float = 600) -> None:
        if self.error is not None:
            raise self.error

    def address(self, port: int) -> str:
        return f"127.0.0.1:{port}"


@pytest.fixture
def host(data: Path) -> Host:
    return inventory.this_machine()


@pytest.fixture
def far(host: Host) -> Iterator[Far]:
    yield Far()
    JOURNAL.sent.clear()
    JOURNAL.ended.clear()


def written(host: Host) -> list[Command]:
    JOURNAL.flush()
    return commands.commands(host_id=host.id)


def test_who_when_where_what_and_how_it_ended(host: Host) -> None:
    before = time.time()
    inventory.runner(host).run("exit 7")
    (one,) = written(host)
    assert (one.host_id, one.where, one.actor, one.script) == (host.id, "local", actor(), "exit 7")
    assert (one.code, one.error, one.times) == (7, None, 1)
    assert before <= one.first == one.last <= time.time()
    assert 0 < one.seconds < 10


def test_a_command_that_fails_on_its_way_is_written_down_with_why(host: Host, far: Far) -> None:
    far.error = CommandTimeout(say("It took longer than {limit} s.", limit=5))
    with pytest.raises(CommandTimeout):
        Recorded(far, host.id, "ops@far:22").run("sleep 9")
    with pytest.raises(CommandTimeout):
        Recorded(far, host.id, "ops@far:22").put(Path("/tmp/a b"), "/data/c")
    put, run = written(host)
    assert (run.where, run.script, run.code, str(run.error)) == (
        "ops@far:22",
        "sleep 9",
        None,
        "It took longer than 5 s.",
    )
    assert put.script == "# put '/tmp/a b' /data/c"


def test_the_same_command_with_the_same_end_is_counted(host: Host, far: Far) -> None:
    one = Recorded(far, host.id, "far")
    for far.seconds in (0.1, 0.4, 0.2):
        one.run("look")
    written(host)
    one.run("look")
    (row,) = written(host)
    assert (row.times, row.seconds) == (4, 0.4)
    far.code = 1
    one.run("look")
    assert [(each.code, each.times) for each in written(host)] == [(1, 1), (0, 4)]


def test_a_command_of_another_person_or_of_another_hour_is_another_row(host: Host, far: Far) -> None:
    one = Recorded(far, host.id, "far")
    one.run("true")
    with acting("ann"):
        one.run("true")
    Recorded(far, host.id, "far", "bob").run("true")
    assert sorted(each.actor for each in written(host)) == sorted(["ann", "bob", actor()])
    assert commands.actors() == sorted(["ann", "bob", actor()])
    assert [each.actor for each in commands.commands(actor="ann")] == ["ann"]
    key = next(key for key in JOURNAL.sent if key[3] == "ann")
    JOURNAL.note(key, time.time() + journal.REPEAT_S + 1, 0.1)
    assert [each.times for each in written(host) if each.actor == "ann"] == [1, 1]


def test_a_follower_that_reads_a_growing_log_sends_one_command(host: Host) -> None:
    detached = Detached(inventory.runner(host), f"{host.work_folder}/jobs/1/01-x.1")
    detached.start("echo secret-of-the-script; sleep 0.2; echo more")
    size = 0
    while detached.look(size).code is None:
        size = detached.look(size).log_size
    assert detached.look(0).log == b"secret-of-the-script\nmore\n"
    rows = written(host)
    assert len(rows) == 2  # the start, and every look
    assert rows[0].times >= 2
    assert not any("secret-of-the-script" in row.script for row in rows)


def test_secrets_and_the_rest_of_long_scripts_are_not_kept() -> None:
    long = "x" * (journal.MOST_SIGNS - 14) + " password=hunter2" + "y" * 5000
    shown = kept(long)
    assert kept("TOKEN=abcdefgh run") == "TOKEN=******** run"
    assert "hunter2" not in shown
    assert shown.endswith(f"\n# … (+{len(long) - journal.MOST_SIGNS})")
    assert len(shown) < journal.MOST_SIGNS + 30
    assert kept("  true \n") == "true"


def test_two_probes_are_the_same_command(host: Host) -> None:
    observe.probe(host, actor="me")
    observe.probe(host, actor="me")
    (row,) = written(host)
    assert row.times == 2


def test_a_database_that_cannot_be_written_breaks_no_command(
    host: Host, far: Far, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Recorded(far, host.id, "far")
    with records.engine().begin() as other:
        other.exec_driver_sql("ALTER TABLE command RENAME TO gone")
    for number in range(3):
        assert one.run(f"echo {number}").code == 0
        JOURNAL.flush()
    assert capsys.readouterr().err.count("cannot be written down") == 1
    with records.engine().begin() as other:
        other.exec_driver_sql("ALTER TABLE gone RENAME TO command")
    assert [row.script for row in written(host)] == ["echo 2", "echo 1", "echo 0"]


def test_a_host_that_is_not_in_the_inventory_costs_the_others_nothing(host: Host, far: Far) -> None:
    Recorded(far, 999, "nowhere").run("a")
    Recorded(far, host.id, "far").run("b")
    assert [row.script for row in written(host)] == ["b"]
    Recorded(far, 999, "nowhere").run("a")
    JOURNAL.flush()
    assert len(commands.commands()) == 1


def test_many_threads_lose_no_count(host: Host, far: Far) -> None:
    def send() -> None:
        for number in range(50):
            Recorded(far, host.id, "far", "ann").run(f"echo {number % 5}")

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        JOURNAL.flush()
    for thread in threads:
        thread.join()
    rows = written(host)
    assert (len(rows), sum(row.times for row in rows)) == (5, 200)


def test_new_commands_are_written_without_being_asked_for(host: Host, far: Far) -> None:
    Recorded(far, host.id, "far").run("now")
    deadline = time.monotonic() + 30
    while not commands.commands() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [row.script for row in commands.commands()] == ["now"]


def test_old_rows_and_those_beyond_the_limit_go(host: Host, far: Far) -> None:
    for number in range(6):
        Recorded(far, host.id, "far").run(f"echo {number}")
    newest = written(host)[0].last
    commands.prune(newest, most=4)
    assert [row.script for row in commands.commands()] == ["echo 5", "echo 4", "echo 3", "echo 2"]
    commands.prune(newest + commands.KEPT_S + 60)
    assert commands.commands() == []
