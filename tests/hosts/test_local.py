"""This machine as a host: outcomes, input, time limits."""

from pathlib import Path

import pytest

from console.errors import CommandTimeout, HostError, InvalidInput
from console.hosts.local import LocalRunner
from tests.running import alive, until


def test_an_outcome_holds_both_outputs_and_the_code() -> None:
    outcome = LocalRunner().run("echo out; echo err >&2; pwd; exit 9")
    assert (outcome.code, outcome.out, outcome.err) == (9, "out\n/\n", "err\n")
    assert outcome.seconds >= 0


def test_a_command_killed_by_a_signal_is_an_outcome() -> None:
    assert LocalRunner().run("kill -KILL $$").code == -9


def test_input_reaches_the_command_whole() -> None:
    data = bytes(range(256)) * 4000
    assert LocalRunner().run("wc -c", stdin=data).out.split() == [str(len(data))]
    assert LocalRunner().run("true", stdin=data).code == 0, "one that does not read is no failure"
    assert LocalRunner().run("cat").out == ""


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert LocalRunner().run("printf 'a\\377b中'").out == "a\ufffdb中"


def test_a_time_limit_ends_the_whole_tree(tmp_path: Path) -> None:
    script = f"sleep 1000 & echo $! > '{tmp_path}/pid'; sh -c 'sleep 1000' & wait"
    with pytest.raises(CommandTimeout, match="longer than 1 s"):
        LocalRunner().run(script, timeout_s=1)
    until(lambda: not alive(int((tmp_path / "pid").read_text())), what="the end of what was killed")


def test_a_time_limit_holds_when_a_child_left_the_session(tmp_path: Path) -> None:
    script = f"setsid sh -c 'echo $$ > \"{tmp_path}/pid\"; exec sleep 1000' & sleep 1000"
    try:
        with pytest.raises(CommandTimeout):
            LocalRunner().run(script, timeout_s=2)
    finally:
        LocalRunner().run(f"kill -KILL $(cat '{tmp_path}/pid')")


def test_a_port_is_reached_on_loopback() -> None:
    assert LocalRunner().address(8000) == "127.0.0.1:8000"


def test_a_file_is_put_whole_or_not_at_all(tmp_path: Path) -> None:
    source, target = tmp_path / "weights", tmp_path / "deep" / "er" / "weights"
    source.write_bytes(bytes(range(256)) * 9000)
    LocalRunner().put(source, str(target))
    assert target.read_bytes() == source.read_bytes()
    assert target.stat().st_mode & 0o777 == 0o600
    source.write_bytes(b"other")
    LocalRunner().put(source, str(target))
    assert target.read_bytes() == b"other"
    assert [one.name for one in target.parent.iterdir()] == ["weights"]
    with pytest.raises(HostError, match="could not be copied"):
        LocalRunner().put(source, f"{source}/below a file")
    with pytest.raises(InvalidInput, match="cannot be read"):
        LocalRunner().put(tmp_path / "nothing", str(target))
    assert target.read_bytes() == b"other"
