"""Many hosts at once, on the command line and in the worker: who is dead or hangs delays nobody."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.__main__ import main
from console.catalog.profiles import profile
from console.errors import HostError
from console.hosts import inventory, known_hosts, login, observe
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.jobs import history, path
from console.jobs.stages import StageState, stages
from tests.hosts.conftest import MakeSshd
from tests.hosts.sshd import Sshd
from tests.jobs.conftest import WorkerProcess, ended

pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.fixture
def dead() -> int:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port: int = unused.getsockname()[1]
        return port


@pytest.fixture
def server(sshd: MakeSshd) -> Sshd:
    return sshd()


def add(name: str, reach: Reach) -> Host:
    return inventory.add_host(name, reach, work_folder="/tmp/pilot-nowhere", actor="me")


def nine(server: Sshd) -> list[Host]:
    """The server under nine further addresses, each a host of its own."""
    addresses = [f"127.0.{server.port % 250}.{n}" for n in range(2, 11)]
    server.stop()
    server.options = tuple(f"ListenAddress {address}:{server.port}" for address in addresses)
    server.start()
    made = []
    for address in addresses:
        key = server.host_key()
        known_hosts.accept(known_hosts.HostKey(address, server.port, key.algorithm, key.blob))
        user_key = str(server.folder / "user_key")
        reach = Reach(address, server.port, server.jump().user, user_key, agent=False)
        made.append(add(f"h-{server.port}-{address}", reach))
    return made


def test_twenty_hosts_of_which_one_is_dead_and_one_hangs(
    sshd: MakeSshd, silent: socket.socket, dead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "GREET_S", 600.0)
    good = [*nine(sshd()), *nine(sshd())]
    hangs = add("hangs", Reach("127.0.0.1", silent.getsockname()[1], agent=False))
    gone = add("dead", Reach("127.0.0.1", dead, agent=False))
    coming = observe.probe_all([hangs, *good, gone], actor="me")
    came = [next(coming) for _ in range(19)]
    assert {host.name for host, _ in came} == {host.name for host in (*good, gone)}
    silent.close()
    came += coming
    errors = {host.name: str(error) for host, error in came if error is not None}
    assert errors.keys() == {"hangs", "dead"}
    assert "closed the connection" in errors["hangs"]
    assert "refuses connections" in errors["dead"]
    for host in good:
        seen = observe.latest(host)
        assert seen is not None
        assert len(seen.facts.values) > 15
    assert observe.latest(hangs) is None


def test_a_probe_leaves_nothing_behind_on_the_host(
    server: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, room = tmp_path / "home", tmp_path / "room"
    home.mkdir()
    room.mkdir()
    server.stop()
    server.options = (f"SetEnv HOME={home} TMPDIR={room}",)
    server.start()
    assert observe.probe(add("one", server.reach()), actor="me")
    assert [*home.iterdir(), *room.iterdir()] == []
    assert not Path("/tmp/pilot-nowhere").exists()


def test_a_host_is_checked_by_the_worker_as_this_machine_is(server: Sshd, worker: WorkerProcess) -> None:
    host = add("one", server.reach())
    assert stages(host)[0].state == StageState.TODO
    worker.start()
    job = ended(path.start("check", host.id, actor="me"), 120)
    assert job.steps[0].state == "ok"
    assert stages(host)[0].state == StageState.OK
    checked = observe.judged(host)
    assert checked is not None
    assert [one.name for one in checked.judged] == list(profile("ascend-two-cards").checks)


def test_a_job_on_a_host_that_is_gone_says_why(server: Sshd, worker: WorkerProcess) -> None:
    host = add("one", server.reach())
    server.stop()
    worker.start()
    job = ended(path.start("check", host.id, actor="me"), 120)
    assert job.state == "failed"
    assert "refuses connections" in str(job.reason)
    assert len(history.jobs(10, host_id=host.id)) == 1


def pilot(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    said = capsys.readouterr()
    return code, said.out, said.err


def adding(server: Sshd, *more: str) -> list[str]:
    reach = server.reach()
    return [
        "hosts", "add", "one", "--address", reach.address, "--port", str(reach.port), "--user", reach.user,
        "--key", reach.key_file, "--no-agent", "--tag", "rack-1", *more,
    ]  # fmt: skip


def test_from_adding_to_removing_on_the_command_line(
    sshd: MakeSshd, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    server = sshd(trust=False)
    print_ = server.host_key().fingerprint
    code, _, err = pilot(capsys, *adding(server))
    assert (code, print_ in err) == (3, True)
    code, _, err = pilot(capsys, *adding(server, "--accept-key", "SHA256:other"))
    assert (code, known_hosts.accepted(server.address, server.port)) == (3, [])
    code, out, _ = pilot(capsys, *adding(server, "--accept-key", print_, "--json"))
    assert (code, json.loads(out)["reached"], json.loads(out)["tags"]) == (0, True, ["rack-1"])
    code, out, _ = pilot(capsys, "hosts", "test", "one")
    assert (code, "ms to log in" in out) == (0, True)
    code, out, _ = pilot(capsys, "hosts", "list", "--json")
    assert [(one["name"], one["observed"]) for one in json.loads(out)["hosts"]] == [("local", None), ("one", None)]
    code, out, _ = pilot(capsys, "check", "one", "--json")
    report = json.loads(out)
    levels = {one["level"] for one in report["checks"]}
    assert (code, report["host"], report["reached"]) == (1 if "fail" in levels else 0, "one", True)
    code, out, _ = pilot(capsys, "hosts", "list")
    assert "0 min ago" in out
    code, out, _ = pilot(capsys, "hosts", "remove", "one")
    assert (code, [host.name for host in inventory.hosts()]) == (0, ["local"])


def test_the_exit_code_of_a_check_tells_the_worst(
    server: Sshd, dead: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    add("one", server.reach())
    add("gone", Reach("127.0.0.1", dead, agent=False))
    code, out, err = pilot(capsys, "check", "gone", "one", "local")
    assert (code, "refuses connections" in err, "one:" in out, "local:" in out) == (3, True, True, True)
    code, out, _ = pilot(capsys, "check", "gone", "--json")
    report = json.loads(out)
    assert (code, report["reached"], report["worst"], report["checks"]) == (3, False, None, [])
    assert pilot(capsys, "check", "nobody")[0] == 2
    assert pilot(capsys, "check", "one", "--profile", "none")[0] == 2
    assert pilot(capsys, "hosts", "add", "x", "--address", "a b")[0] == 2
    assert pilot(capsys, "hosts", "key")[1].startswith("ssh-ed25519 ")


@pytest.mark.parametrize("language", ["C", "zh_CN.UTF-8"])
def test_the_help_is_in_the_language_of_the_terminal(language: str) -> None:
    environment = os.environ | {"LC_ALL": language, "PYTHONUTF8": "1"}
    said = subprocess.run(
        [sys.executable, "-m", "console", "hosts", "add", "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert ("jump host" in said, "跳板机" in said) == (language == "C", language != "C")


def test_a_probe_that_comes_to_nothing_is_an_error(server: Sshd, tmp_path: Path) -> None:
    quiet = tmp_path / "quiet"
    quiet.write_text('#!/bin/sh\neval "$SSH_ORIGINAL_COMMAND" | head -1\n')
    quiet.chmod(0o755)
    server.stop()
    server.options = (f"ForceCommand {quiet}",)
    server.start()
    with pytest.raises(HostError, match="nothing that could be read"):
        observe.probe(add("one", server.reach()), actor="me")
