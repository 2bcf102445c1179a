"""The process that sends files beside this one: it goes when it is not wanted, and says so when it goes by itself."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from console.errors import Unreachable
from console.hosts.connection import Connection
from console.hosts.keys import Password
from console.hosts.piece import Piece
from console.hosts.runner import Runner
from console.hosts.ssh import SshRunner
from console.hosts.transfer import Parcel
from tests.hosts.sshd import Sshd
from tests.hosts.test_sending import carriers, runner, server, several
from tests.running import until

pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]

__all__ = ["runner", "server", "several"]


def test_a_password_that_only_this_process_knows_goes_nowhere(server: Sshd) -> None:
    with (
        Connection(server.reach(), Password("right words")) as own,
        SshRunner(own).apart() as feeder,
    ):
        assert feeder is None


def test_one_that_is_gone_between_two_files_is_unreachable(server: Sshd, runner: Runner, several: list[Parcel]) -> None:
    """Also where what it was told last still lies in the pipe."""

    def kill_and_feed() -> None:
        with runner.apart() as second:
            assert second is not None
            second.ready()
            assert second.run("echo there").out == "there\n"
            (pid,) = carriers()
            os.kill(pid, signal.SIGKILL)
            until(lambda: not carriers())
            second.feed("cat >/dev/null", Piece(several[0].source), timeout_s=60)

    with pytest.raises(Unreachable, match="ended unexpectedly"):
        kill_and_feed()


def test_a_python_that_greets_disturbs_nobody(runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('你好')\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    with runner.apart() as second:
        assert second is not None
        second.ready()
        assert second.run("echo there").out == "there\n"


def test_it_does_not_outlive_whoever_ordered_it(server: Sshd, several: list[Parcel]) -> None:
    """Its input ends when that one is killed: also in the middle of a file."""
    with subprocess.Popen(
        [sys.executable, "-m", "console.hosts.carrier"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:
        assert one.stdin is not None
        assert one.stdout is not None
        print(server.reach().to_json(), file=one.stdin, flush=True)
        assert json.loads(one.stdout.readline()) == {"ready": True}
        slowly = "while head -c 1000000 >/dev/null; do sleep 0.2; done"
        order = {"script": slowly, "source": str(several[0].source), "at": 0, "timeout_s": 1000}
        print(json.dumps(order), file=one.stdin, flush=True)
        assert 0 < json.loads(one.stdout.readline())["at"] < several[0].size
        one.stdin.close()
        assert one.wait(60) == 0
    until(lambda: server.connections() == [])
