"""Host keys: accepted by a person, kept as OpenSSH keeps them, and never overwritten."""

import stat
import subprocess
from pathlib import Path

import pytest

from console.errors import ChangedHostKey, UnknownHostKey
from console.hosts import known_hosts
from console.hosts.known_hosts import HostKey
from tests.hosts.sshd import make_key

pytestmark = pytest.mark.needs("ssh-keygen")


@pytest.fixture
def offered(data: Path, tmp_path: Path) -> HostKey:
    return key_of(make_key(tmp_path / "one"))


def key_of(private: Path, address: str = "10.0.0.5", port: int = 2222) -> HostKey:
    algorithm, blob, *_ = private.with_suffix(".pub").read_text().split()
    return HostKey(address, port, algorithm, blob)


def test_the_fingerprint_is_the_one_that_ssh_keygen_shows(offered: HostKey, tmp_path: Path) -> None:
    shown = subprocess.run(["ssh-keygen", "-lf", tmp_path / "one.pub"], capture_output=True, text=True, check=True)
    assert shown.stdout.split()[1] == offered.fingerprint


def test_an_unknown_key_waits_for_a_person(offered: HostKey) -> None:
    with pytest.raises(UnknownHostKey) as raised:
        known_hosts.judge(offered)
    assert raised.value.key == offered
    assert offered.fingerprint in str(raised.value)
    known_hosts.accept(raised.value.key)
    known_hosts.accept(raised.value.key)
    known_hosts.judge(offered)
    assert len(known_hosts.path().read_text().splitlines()) == 1
    assert stat.S_IMODE(known_hosts.path().stat().st_mode) == 0o600


def test_the_same_key_elsewhere_is_unknown(offered: HostKey) -> None:
    known_hosts.accept(offered)
    for other in (
        HostKey("10.0.0.6", 2222, offered.algorithm, offered.blob),
        HostKey("10.0.0.5", 22, offered.algorithm, offered.blob),
    ):
        with pytest.raises(UnknownHostKey):
            known_hosts.judge(other)


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_another_key_stops_everything_until_the_old_one_is_forgotten(
    offered: HostKey, tmp_path: Path, kind: str
) -> None:
    known_hosts.accept(offered)
    other = key_of(make_key(tmp_path / "other", kind))
    for act in (known_hosts.judge, known_hosts.accept):
        with pytest.raises(ChangedHostKey) as raised:
            act(other)
        assert offered.fingerprint in str(raised.value)
        assert other.fingerprint in str(raised.value)
    known_hosts.forget(offered.address, offered.port)
    known_hosts.accept(other)
    known_hosts.judge(other)


def test_openssh_reads_what_is_written_and_the_other_way_round(offered: HostKey) -> None:
    known_hosts.accept(offered)
    file = known_hosts.path()
    find = ["ssh-keygen", "-F", offered.name, "-f", file]
    assert offered.blob in subprocess.run(find, capture_output=True, text=True, check=True).stdout
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", file], capture_output=True, check=True)
    assert offered.address not in file.read_text()
    known_hosts.judge(offered)
    known_hosts.forget(offered.address, offered.port)
    assert file.read_text() == ""


def test_lines_of_others_stay_as_they_are(offered: HostKey) -> None:
    known_hosts.path().parent.mkdir(parents=True)
    others = (
        f"# mine\nhalf a line\n@revoked * {offered.algorithm} {offered.blob}\nother {offered.algorithm} {offered.blob}"
    )
    known_hosts.path().write_text(others)
    known_hosts.accept(offered)
    known_hosts.judge(offered)
    known_hosts.forget(offered.address, offered.port)
    assert known_hosts.path().read_text() == others + "\n"
