"""Who is let in: keys of each kind, the agent, the console's own pair, a password, and the way through jump hosts."""

import getpass
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.errors import ChangedHostKey, HostError, InvalidInput, UnknownHostKey
from console.hosts import inventory, keys, known_hosts, login, trial
from console.hosts.connection import Connection
from console.hosts.keys import Password
from console.hosts.reach import Jump, Reach, Sudo
from console.hosts.ssh import SshRunner
from tests.hosts.conftest import MakeSshd
from tests.hosts.sshd import Sshd, make_key

pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]


def says(reach: Reach, password: Password | None = None) -> str:
    with Connection(reach, password) as one:
        return SshRunner(one).run("echo hello").out


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_keys_of_each_kind(sshd: MakeSshd, tmp_path: Path, kind: str) -> None:
    server, key = sshd(), make_key(tmp_path / kind, kind)
    (server.folder / "authorized_keys").write_text(key.with_suffix(".pub").read_text())
    assert says(server.reach(key_file=str(key))) == "hello\n"


def test_host_keys_of_each_kind_and_the_accepted_one_of_several(sshd: MakeSshd, tmp_path: Path) -> None:
    more = [f"HostKey {make_key(tmp_path / f'host-{kind}', kind)}" for kind in ("rsa", "ecdsa")]
    server = sshd(*more, trust=False)
    for name in ("host-rsa", "host-ecdsa"):
        algorithm, blob, *_ = (tmp_path / f"{name}.pub").read_text().split()
        known_hosts.forget(server.address, server.port)
        known_hosts.accept(known_hosts.HostKey(server.address, server.port, algorithm, blob))
        assert says(server.reach()) == "hello\n"


def test_key_files_that_cannot_be_used(sshd: MakeSshd, tmp_path: Path) -> None:
    server = sshd()
    locked, wide = make_key(tmp_path / "locked", passphrase="secret words"), make_key(tmp_path / "wide")
    wide.chmod(0o644)
    no_key = tmp_path / "no_key"
    no_key.write_text("hello\n")
    no_key.chmod(0o600)
    for path, sentence in (
        (locked, "locked with a passphrase"),
        (wide, "chmod 600"),
        (no_key, "no private key"),
        (tmp_path / "nothing", "No such file"),
        (tmp_path, "chmod 600|Is a directory"),
    ):
        with pytest.raises(HostError, match=sentence):
            says(server.reach(key_file=str(path)))


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Path) -> Iterator[None]:
    """An agent of this test alone; `data` first, because it takes the user's own agent away."""
    place = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(place))
    while not place.exists():
        assert process.poll() is None
    yield
    process.terminate()
    process.wait(timeout=20)


@pytest.mark.needs("ssh-agent", "ssh-add")
def test_the_agent_is_asked_unless_it_is_left_out(agent: None, sshd: MakeSshd) -> None:
    server = sshd()
    subprocess.run(["ssh-add", "-q", server.folder / "user_key"], check=True, capture_output=True)
    assert says(server.reach(key_file="", agent=True)) == "hello\n"
    with pytest.raises(HostError, match=r"does not let .* in\. Tried: nothing\. The server accepts: publickey"):
        says(server.reach(key_file="", agent=False))


@pytest.mark.needs("ssh-agent", "ssh-add")
def test_too_many_keys_in_the_agent(agent: None, sshd: MakeSshd, tmp_path: Path) -> None:
    server = sshd("MaxAuthTries 3")
    for n in range(5):
        subprocess.run(["ssh-add", "-q", make_key(tmp_path / f"k{n}")], check=True, capture_output=True)
    with pytest.raises(HostError, match=r"ended the connection while .*MaxAuthTries"):
        says(server.reach(key_file="", agent=True))


def test_the_console_has_a_key_of_its_own(sshd: MakeSshd) -> None:
    server = sshd()
    line = keys.public_line()
    assert line == keys.public_line()
    assert stat.S_IMODE(keys.own_file().stat().st_mode) == 0o600
    reach = server.reach(key_file="")
    with pytest.raises(HostError, match="Tried: the console's own key"):
        says(reach)
    (server.folder / "authorized_keys").write_text(line + "\n")
    assert says(reach) == "hello\n"
    public = subprocess.run(["ssh-keygen", "-yf", keys.own_file()], capture_output=True, text=True, check=True)
    assert public.stdout.split()[:2] == line.split()[:2]


def test_a_changed_host_key_stops_everything(sshd: MakeSshd) -> None:
    server = sshd()
    assert says(server.reach()) == "hello\n"
    server.stop()
    server.new_host_key()
    server.start()
    with pytest.raises(ChangedHostKey, match="HAS CHANGED"):
        says(server.reach())
    assert "Accepted" not in server.log.rpartition("Server listening")[2]
    known_hosts.forget(server.address, server.port)
    with pytest.raises(UnknownHostKey) as raised:
        says(server.reach())
    known_hosts.accept(raised.value.key)
    assert says(server.reach()) == "hello\n"


def chain(sshd: MakeSshd, count: int) -> list[Sshd]:
    """Servers that all take the first one's user key; only the last is the host."""
    servers = [sshd(address=f"127.0.0.{n + 1}") for n in range(count)]
    for server in servers[1:]:
        shutil.copy(servers[0].folder / "user_key.pub", server.folder / "authorized_keys")
    return servers


def through(servers: list[Sshd]) -> Reach:
    key = str(servers[0].folder / "user_key")
    return servers[-1].reach(key_file=key, jumps=tuple(one.jump() for one in servers[:-1]))


@pytest.mark.parametrize("hops", [1, 2])
def test_the_way_through_jump_hosts(sshd: MakeSshd, hops: int) -> None:
    servers = chain(sshd, hops + 1)
    reach = through(servers)
    with Connection(reach) as one:
        outcome = SshRunner(one).run("echo $SSH_CONNECTION")
    assert outcome.out.split()[2:] == [f"127.0.0.{hops + 1}", str(servers[hops].port)]
    assert all("Accepted publickey" in server.log for server in servers)


def test_which_hop_failed_is_said(sshd: MakeSshd) -> None:
    servers = chain(sshd, 3)
    reach = through(servers)
    servers[2].stop()
    with pytest.raises(HostError, match=r"breaks at jump host 2 of 2: .*127\.0\.0\.2.* could not connect there"):
        says(reach)
    (servers[1].folder / "authorized_keys").write_text("")
    with pytest.raises(HostError, match=r"breaks at jump host 2 of 2: .*does not let"):
        says(reach)
    servers[0].stop()
    with pytest.raises(HostError, match=r"breaks at jump host 1 of 2: .*refuses connections"):
        says(reach)


def test_a_jump_host_that_forwards_nothing(sshd: MakeSshd) -> None:
    gate, behind = sshd("AllowTcpForwarding no"), sshd()
    shutil.copy(gate.folder / "user_key.pub", behind.folder / "authorized_keys")
    with pytest.raises(HostError, match=r"jump host 1 of 1.*AllowTcpForwarding"):
        says(through([gate, behind]))


def test_the_host_behind_the_jump_hosts_refuses(sshd: MakeSshd) -> None:
    servers = chain(sshd, 2)
    (servers[1].folder / "authorized_keys").write_text("")
    with pytest.raises(HostError, match=r"way through the jump hosts is open, but: .*does not let"):
        says(through(servers))


def test_the_key_of_a_jump_host_is_judged_too(sshd: MakeSshd) -> None:
    servers = chain(sshd, 2)
    known_hosts.forget(servers[0].address, servers[0].port)
    with pytest.raises(UnknownHostKey) as raised:
        says(through(servers))
    assert raised.value.key == servers[0].host_key()
    assert "Accepted" not in servers[1].log


def test_trying_a_host_tells_what_is_not_as_it_should_be(sshd: MakeSshd, tmp_path: Path) -> None:
    server = sshd(f"SetEnv PATH={tmp_path}:/usr/bin:/bin")
    host = inventory.add_host("gpu1", server.reach(), work_folder=str(tmp_path / "work"), actor="me")
    tried = trial.try_host(host)
    assert (tried.remarks, (tmp_path / "work").exists()) == ((), False)
    assert tried.login_s > 0
    (tmp_path / "file").touch()
    sudo = tmp_path / "sudo"
    sudo.write_text("#!/bin/sh\necho 'sudo: a password is required' >&2; exit 1\n")
    sudo.chmod(0o755)
    reach = Reach(server.address, server.port, getpass.getuser(), str(server.folder / "user_key"), sudo=Sudo.NOPASSWD)
    host = inventory.edit_host(host.id, "gpu1", reach, work_folder=f"{tmp_path}/file/work", actor="me")
    remarks = [str(one) for one in trial.try_host(host).remarks]
    assert ["cannot write in" in remarks[0], "a password is required" in remarks[1], len(remarks)] == [True, True, 2]
    with pytest.raises(InvalidInput):
        trial.try_host(inventory.this_machine())


@pytest.mark.needs_root
@pytest.mark.needs("useradd", "openssl")
def test_a_password_puts_the_consoles_key_on_the_host(somebody: str, sshd: MakeSshd, data: Path) -> None:
    server = sshd("PasswordAuthentication yes", "AuthorizedKeysFile .ssh/authorized_keys")
    host = inventory.add_host("gpu1", Reach(server.address, server.port, somebody, agent=False), actor="me")
    with pytest.raises(HostError, match=r"Tried: nothing. The server accepts: publickey, password"):
        trial.try_host(host)
    with pytest.raises(HostError, match=r"does not let .* Tried: .*the password"):
        trial.install_key(host, Password("wrong words"))
    for _ in range(2):
        trial.install_key(host, Password("right words"))
    home = Path(pwd.getpwnam(somebody).pw_dir)
    assert (home / ".ssh" / "authorized_keys").read_text().split("\n") == ["", keys.public_line(), ""]
    assert trial.try_host(host).login_s > 0
    assert [path for path in data.rglob("*") if path.is_file() and b"right words" in path.read_bytes()] == []
    assert "right" not in repr(Password("right words"))


@pytest.mark.parametrize("lines", [1, 4000])
def test_a_banner_as_long_as_a_server_may_send_is_no_output(sshd: MakeSshd, tmp_path: Path, lines: int) -> None:
    """sshd shows it before the login: one line or thousands, up to the largest packet it makes."""
    banner = tmp_path / "banner"
    banner.write_text(("Authorised use only. " * (8000 // lines or 2) + "\n") * lines)
    assert says(sshd(f"Banner {banner}").reach()) == "hello\n"


def test_a_server_that_hangs_while_logging_in(sshd: MakeSshd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "LOG_IN_S", 1.0)
    sleep = f"AuthorizedKeysCommand {shutil.which('sleep')} 6"
    server = sshd(sleep, f"AuthorizedKeysCommandUser {getpass.getuser()}", "AuthorizedKeysFile none")
    with pytest.raises(HostError, match="did not decide within 1 s"):
        says(server.reach())
    assert "Accepted" not in server.log


def test_a_jump_host_reads_as_it_is_written() -> None:
    assert str(Jump("::1", 22, "me")) == "me@[::1]:22"
