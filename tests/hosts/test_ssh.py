"""Commands, files and ports over a real SSH server, and what happens when it misbehaves."""

import http.client
import http.server
import os
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from console.errors import CommandTimeout, HostError, InvalidInput
from console.hosts import connection as connections
from console.hosts import login
from console.hosts.process import Detached, Life
from console.hosts.ssh import SshRunner
from tests.hosts.conftest import MakeSshd
from tests.hosts.sshd import Sshd
from tests.running import until

pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]


def runner(server: Sshd) -> SshRunner:
    return SshRunner(connections.connection(server.reach()))


def lives(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def test_output_input_and_exit_code_come_through(sshd: MakeSshd) -> None:
    one = runner(sshd())
    outcome = one.run("pwd; cat; echo \"it's 'x'\" >&2; exit 3", stdin="主机\n".encode() + b"\xff\n")
    assert (outcome.code, outcome.out, outcome.err) == (3, "/\n主机\n�\n", "it's 'x'\n")
    assert one.run("kill -9 $$").code == 137
    assert one.run("exit 0", stdin=b"x" * 5_000_000).code == 0
    large = one.run("head -c 3000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero | tr '\\0' y >&2")
    assert (len(large.out), len(large.err)) == (3_000_000, 3_000_000)


def test_what_start_files_of_the_login_shell_say_is_no_output(sshd: MakeSshd, tmp_path: Path) -> None:
    shell = tmp_path / "chatty"
    shell.write_text('#!/bin/sh\necho Welcome; echo 10 20 30 >&2\nexec sh -c "$SSH_ORIGINAL_COMMAND"\n')
    shell.chmod(0o755)
    outcome = runner(sshd(f"ForceCommand {shell}")).run("echo out; echo err >&2")
    assert (outcome.out, outcome.err) == ("out\n", "err\n")


@pytest.mark.needs("csh")
def test_a_login_shell_of_another_kind_passes_everything_on(sshd: MakeSshd, tmp_path: Path) -> None:
    shell = tmp_path / "csh"
    shell.write_text('#!/bin/sh\nexec csh -fc "$SSH_ORIGINAL_COMMAND"\n')
    shell.chmod(0o755)
    assert runner(sshd(f"ForceCommand {shell}")).run("a='x!y'\necho \"$a\"").out == "x!y\n"


def test_no_shell_is_said(sshd: MakeSshd) -> None:
    with pytest.raises(HostError, match=r"runs no shell.*not available"):
        runner(sshd("ForceCommand echo This account is currently not available.; exit 1")).run("true")


def test_a_command_that_takes_too_long_ends_with_everything_it_started(sshd: MakeSshd, tmp_path: Path) -> None:
    one = runner(sshd("MaxSessions 1"))
    script = f"""
    sleep 300 & echo $! >> '{tmp_path}/pids'
    setsid sleep 300 & echo $! >> '{tmp_path}/pids'
    (trap '' TERM HUP; sleep 300) & echo $! >> '{tmp_path}/pids'
    echo $$ >> '{tmp_path}/pids'; wait
    """
    with pytest.raises(CommandTimeout, match="and was ended"):
        one.run(script, timeout_s=2)
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 4
    until(lambda: not any(lives(pid) for pid in pids))
    assert one.run("echo again").out == "again\n"


def test_one_connection_serves_many_threads(sshd: MakeSshd) -> None:
    server = sshd()
    with ThreadPoolExecutor(20) as pool:
        said = list(pool.map(lambda n: runner(server).run(f"echo {n}", timeout_s=60).out, range(40)))
    assert said == [f"{n}\n" for n in range(40)]
    assert server.log.count("Accepted publickey") == 1


def test_no_more_commands_at_once_than_the_server_allows(sshd: MakeSshd) -> None:
    server = sshd("MaxSessions 1")
    with ThreadPoolExecutor(6) as pool:
        said = list(pool.map(lambda n: runner(server).run(f"sleep 0.1; echo {n}", timeout_s=60).out, range(6)))
    assert said == [f"{n}\n" for n in range(6)]
    assert server.log.count("Accepted publickey") == 1


def test_no_sessions_at_all_is_said(sshd: MakeSshd) -> None:
    with pytest.raises(HostError, match="MaxSessions"):
        runner(sshd("MaxSessions 0")).run("true")


def test_a_lost_connection_is_made_anew_once(sshd: MakeSshd) -> None:
    server = sshd()
    one = runner(server)
    one.run("true")
    server.cut()
    assert one.run("echo back").out == "back\n"
    server.stop()
    with pytest.raises(HostError, match="refuses connections"):
        one.run("true")


def test_a_connection_that_drops_while_a_command_runs(sshd: MakeSshd, tmp_path: Path) -> None:
    server = sshd()
    threading.Thread(target=lambda: (until((tmp_path / "running").exists), server.cut())).start()
    with pytest.raises(HostError, match=r"dropped while a command ran, after \d\d bytes"):
        runner(server).run(f"echo half of it; touch '{tmp_path}/running'; sleep 20; echo the rest")


def test_a_server_that_hangs_after_login(sshd: MakeSshd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "GREET_S", 1.0)
    monkeypatch.setattr(connections, "OPEN_S", 1.0)
    server = sshd()
    one = runner(server)
    one.run("true")
    hung = [*server.connections(), server.process.pid] if server.process else []
    for pid in hung:
        os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(HostError, match="did not greet as an SSH server"):
            one.run("true")
    finally:
        for pid in hung:
            os.kill(pid, signal.SIGCONT)


def test_a_command_sent_to_a_server_that_hangs_ends_in_time(sshd: MakeSshd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "GREET_S", 1.0)
    server = sshd()
    one = runner(server)
    with one.connection.session(5) as channel:
        hung = [*server.connections(), server.process.pid] if server.process else []
        for pid in hung:
            os.kill(pid, signal.SIGSTOP)
        try:
            monkeypatch.setattr(one.connection, "_open", lambda until: channel)
            with pytest.raises(CommandTimeout, match="not known"):
                one.run("true", timeout_s=1)
        finally:
            for pid in hung:
                os.kill(pid, signal.SIGCONT)


def test_a_file_arrives_whole_or_not_at_all(sshd: MakeSshd, tmp_path: Path) -> None:
    one, source = runner(sshd()), tmp_path / "source"
    source.write_bytes(os.urandom(3_000_001))
    target = tmp_path / "new folder" / "it's here"
    one.put(source, str(target))
    assert target.read_bytes() == source.read_bytes()
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    with pytest.raises(HostError, match="could not be copied"):
        one.put(source, f"{source}/below a file")
    with pytest.raises(InvalidInput):
        one.put(tmp_path / "nothing", str(target))


def test_long_commands_outlive_the_connection(sshd: MakeSshd, tmp_path: Path) -> None:
    server = sshd()
    detached = Detached(runner(server), str(tmp_path / "job"))
    detached.start(f"echo begun; while [ ! -e '{tmp_path}/go' ]; do sleep 0.1; done; echo done; exit 4")
    server.cut()
    assert detached.look().life == Life.RUNNING
    (tmp_path / "go").touch()
    until(lambda: detached.look().life == Life.EXITED)
    look = detached.look()
    assert (look.code, look.log) == (4, b"begun\ndone\n")


class Echo(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web() -> Iterator[int]:
    """A web server on loopback that says back what it is sent."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def post(address: str, body: bytes) -> bytes:
    connection = http.client.HTTPConnection(address, timeout=30)
    try:
        connection.request("POST", "/", body)
        return connection.getresponse().read()
    finally:
        connection.close()


def test_a_port_of_the_host_is_reached_through_the_connection(sshd: MakeSshd, web: int) -> None:
    server = sshd()
    address = runner(server).address(web)
    assert address == runner(server).address(web)
    assert address != f"127.0.0.1:{web}"
    body = os.urandom(500_000)
    with ThreadPoolExecutor(4) as pool:
        assert all(said == body for said in pool.map(lambda _: post(address, body), range(8)))
    server.cut()
    assert post(address, b"again") == b"again"


def test_a_port_where_nobody_listens_closes_the_connection(sshd: MakeSshd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        post(runner(sshd()).address(port), b"")


def test_an_idle_connection_is_closed_when_another_is_wanted(sshd: MakeSshd, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = sshd(), sshd()
    runner(first).run("true")
    monkeypatch.setattr(connections, "IDLE_S", 0.0)
    runner(second)
    until(lambda: not first.connections())
