"""~/.ssh/config as ssh itself reads it, and what is left out because it would have to be run or asked."""

import shutil
import subprocess
from pathlib import Path

import pytest

from console.errors import InvalidInput
from console.hosts.importing import Left, Read, Wanted
from console.hosts.reach import Jump
from console.hosts.ssh_config import read_ssh_config
from console.settings import actor

CONFIG = """
# lab
Host gate
    HostName 10.0.0.1
    User me
    Port 2200

Host inner
    HostName = 10.0.1.1
    ProxyJump gate

Host npu-1 npu-2 # the two
    HostName %h.lab.example
    User "ops"
    ProxyJump inner,last@far:2022
    IdentityFile ~/.ssh/lab

Host npu-? !npu-2 *.lab
    Port 2222

Match originalhost npu-2 user ops
    Port 2223

Host *
    User everybody
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    return tmp_path


def read(home: Path, text: str = CONFIG) -> Read:
    path = home / ".ssh" / "config"
    path.write_text(text)
    return read_ssh_config(path)


def one(home: Path, text: str, name: str) -> Wanted:
    found = next(each for each in read(home, text).found if each.name == name)
    assert isinstance(found, Wanted), found.why
    return found


def left(home: Path, text: str) -> dict[str, str]:
    return {f"{each.place} {each.name}": str(each.why) for each in read(home, text).found if isinstance(each, Left)}


def test_hosts_with_patterns_negation_and_hops(home: Path) -> None:
    gate, inner, first, second = (each for each in read(home).found if isinstance(each, Wanted))
    assert (gate.name, gate.place, gate.address, gate.port, gate.user) == ("gate", "3", "10.0.0.1", 2200, "me")
    assert (inner.address, inner.user, inner.jumps) == ("10.0.1.1", "everybody", (Jump("10.0.0.1", 2200, "me"),))
    assert (first.address, first.port, first.user) == ("npu-1.lab.example", 2222, "ops")
    assert (second.address, second.port, second.user) == ("npu-2.lab.example", 2223, "ops")
    assert [str(hop) for hop in first.jumps or ()] == ["me@10.0.0.1:2200", "everybody@10.0.1.1:22", "last@far:2022"]
    assert (first.key_file, first.agent) == (str(home / ".ssh/lab"), None)
    assert left(home, CONFIG) == {
        "18 npu-? !npu-2 *.lab": "This is a pattern and no host; what it says applies to the hosts that fit it."
    }


@pytest.mark.skipif(shutil.which("ssh") is None, reason="needs the OpenSSH client")
def test_it_agrees_with_ssh_itself(home: Path) -> None:
    for wanted in read(home).found:
        if isinstance(wanted, Left):
            continue
        command = ["ssh", "-G", "-F", str(home / ".ssh/config"), wanted.name]
        said = dict(
            line.split(" ", 1)
            for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        )
        assert (wanted.address, str(wanted.port), wanted.user) == (said["hostname"], said["port"], said["user"])


def test_a_user_that_is_not_named_is_the_one_here(home: Path) -> None:
    found = one(home, "Host a\n", "a")
    assert (found.address, found.port, found.user, found.jumps, found.key_file) == ("a", 22, actor(), (), None)


@pytest.mark.parametrize(
    ("lines", "hops"),
    [
        ("ProxyJump none", []),
        ("ProxyJump [fe80::1]:2022", ["root@[fe80::1]:2022"]),
        ("ProxyJump ssh://me@gate:2022", ["me@gate:2022"]),
        ("ProxyCommand none\n ProxyJump gate", []),
        ("ProxyJump gate\n ProxyCommand nc %h %p", ["root@gate:22"]),
    ],
)
def test_of_jump_and_command_the_first_counts(home: Path, lines: str, hops: list[str]) -> None:
    found = one(home, f"Host a\n {lines}\nHost *\n User root\n", "a")
    assert [str(hop) for hop in found.jumps or ()] == hops


def test_nothing_is_run(home: Path) -> None:
    ran = home / "ran"
    text = f"""
Match exec "touch {ran}"
    Port 2
Host a
    ProxyCommand touch {ran}; nc %h %p
Host b
    Port 22
Match localnetwork 10.0.0.0/8
    Port 3
Match host
    Port 4
CanonicalizeHostname yes
CanonicalDomains lab.example
"""
    said = left(home, text)
    assert set(said) == {f"2 Match exec touch {ran}", "4 a", "8 Match localnetwork 10.0.0.0/8", "10 Match host"}
    assert "ProxyCommand, which is not run here" in said["4 a"]
    assert "nothing is run for it" in said[f"2 Match exec touch {ran}"]
    assert one(home, text, "b").port == 22
    assert [str(each) for each in read(home, text).remarks] == [
        "Line 12: CanonicalizeHostname is not followed; names stay as they are."
    ]
    assert not ran.exists()


def test_other_files_are_included_where_they_apply_to_all(home: Path) -> None:
    (home / ".ssh/conf.d").mkdir()
    (home / ".ssh/conf.d/1.conf").write_text("Host one\n HostName 10.0.0.1\n")
    (home / ".ssh/conf.d/2.conf").write_text("User deep\nHost two\n HostName 10.0.0.2\nInclude ~/other\n")
    (home / "other").write_text("Port 9\n")
    text = "Include conf.d/*.conf\nPort 2022\nInclude missing\nHost three\n Include conf.d/1.conf\n"
    found = {each.name: each for each in read(home, text).found}
    assert list(found) == ["one", "two", "three", "Include ~/other", "Include conf.d/1.conf"]
    assert found["Include ~/other"].place == "2.conf:4"
    assert [(each.place, each.port, each.user) for each in found.values() if isinstance(each, Wanted)] == [
        ("1.conf:1", 2022, "deep"),
        ("2.conf:2", 2022, "deep"),
        ("4", 2022, "deep"),
    ]
    assert "inside a block" in left(home, text)["5 Include conf.d/1.conf"]
    assert [str(each) for each in read(home, text).remarks] == ["Line 3: no file fits “Include missing”."]


def test_files_that_include_each_other_end(home: Path) -> None:
    with pytest.raises(InvalidInput, match="include each other"):
        read(home, "Include config\n")


def test_keys(home: Path) -> None:
    for name in ("second", "third"):
        (home / ".ssh" / name).write_text("x")
    several = one(
        home, "Host a\n IdentityFile ~/.ssh/%n\n IdentityFile %d/.ssh/second\n IdentityFile ~/.ssh/third\n", "a"
    )
    assert several.key_file == str(home / ".ssh/second")
    assert [str(each) for each in several.remarks] == [f"It names 3 key files; {home}/.ssh/second is taken."]
    only = one(home, "Host a\n IdentityFile ~/.ssh/none-there\n IdentitiesOnly yes\n", "a")
    assert (only.key_file, only.agent) == (str(home / ".ssh/none-there"), False)
    assert "is not there" in str(only.remarks[0])
    public = one(home, "Host a\n IdentityFile ~/.ssh/id.pub\n", "a")
    assert public.key_file is None
    assert "picks one of the agent's keys" in str(public.remarks[0])
    jump = one(home, "Host a\n ProxyJump b\nHost b\n IdentityFile ~/.ssh/third\n", "a")
    assert "has a key file of its own" in str(jump.remarks[0])


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("Host a\n ProxyJump b\nHost b\n ProxyJump a\n", "a", "in a circle: a → b → a"),
        ("Host *\n ProxyJump gate\nHost gate\n", "gate", "in a circle: gate → gate"),
        ("Host a\n Port ssh\n", "a", "ssh is no port"),
        ("Host a\n ProxyJump b:c:d\n", "a", "b:c:d is no jump host"),
    ],
)
def test_what_cannot_be_is_told_with_its_line(home: Path, text: str, name: str, said: str) -> None:
    found = left(home, text)
    assert said in next(words for place, words in found.items() if place.endswith(f" {name}"))


def test_lines_that_nobody_can_read(home: Path) -> None:
    text = 'Host "a\nHost b\nPort\n LocalCommand echo "it\nSetEnv X="\nUser ""\n'
    assert set(left(home, text)) == {'1 Host "a', "3 Port", '6 User ""'}
    assert one(home, text, "b").port == 22


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_ssh_config(tmp_path / "config")
