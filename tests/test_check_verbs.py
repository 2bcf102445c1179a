"""`pilot check`, `compare`, `waive` and `profiles`: words, JSON, files and exit codes."""

import json
import re
from pathlib import Path

import pytest

from console import terminal_table
from console.__main__ import main
from console.hosts import observe
from console.hosts.inventory import Host
from tests.hosts.said import remote, say_again
from tests.house.tree import ROOT
from tests.jobs.conftest import data, host

__all__ = ["data", "host"]
OLD = {"libc": "glibc 2.20\n"}


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("COLUMNS", "200")


def pilot(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_check_speaks_json_with_what_changed(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = pilot(capsys, "check", "local", "--json")
    first = json.loads(out)
    failed = any(one["standing"] == "fail" for one in first["checks"])
    assert (code, first["profile"], first["reached"], first["changed"]) == (int(failed), "this-machine-cpu", True, [])
    assert first["changed_since"] is None
    code, out, _ = pilot(capsys, "check", "local", "--json")
    again = json.loads(out)
    assert again["changed_since"] == first["time"]
    assert "clock_is_plausible" not in {one["name"] for one in again["changed"]}


def test_a_file_name_is_on_the_terminal_to_its_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a column of any table: what is cut short with three dots cannot be fetched."""
    monkeypatch.setenv("COLUMNS", "80")
    name = "Ascend-hdk-910b-npu-driver_25.5.1_linux-aarch64.run"
    table = terminal_table.table_of()
    table.add_row("■", "Installed versions together", f"→ Fetch next: {name}")
    terminal_table.draw(table)
    assert name in "".join(line.strip() for line in capsys.readouterr().out.splitlines())
    written = [path for path in sorted((ROOT / "console").glob("*.py")) if "add_column(" in path.read_text("utf-8")]
    assert len(written) > 5
    for path in written:
        added = re.findall(r"add_column\(.*", path.read_text("utf-8"))
        assert all('overflow="fold"' in one for one in added), f"{path.name}: {added}"


def test_changes_in_words(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert "was not checked before" in pilot(capsys, "check", "local", "--changes")[1]
    said = pilot(capsys, "check", "local", "--changes")[1]
    assert "hanged since" in said


def test_one_check_alone(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = pilot(capsys, "check", "local", "--only", "architecture")
    assert (code, "has not been checked yet" in err) == (2, True)
    pilot(capsys, "check", "local")
    code, out, _ = pilot(capsys, "check", "local", "--only", "architecture", "--json")
    assert (code, [one["name"] for one in json.loads(out)["checks"]]) == (0, ["architecture"])
    seen = observe.latest(host)
    assert seen is not None
    assert {"arch"} <= set(seen.times) <= {"arch", "probe"}
    code, _, err = pilot(capsys, "check", "local", "--only", "moon")
    assert (code, "There is no check moon" in err) == (2, True)


@pytest.mark.parametrize(("form", "begins"), [("html", "<!DOCTYPE html>"), ("md", "# Check of local"), ("json", "{")])
def test_a_report_is_written_beside_the_words(
    host: Host, capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str, begins: str
) -> None:
    file = tmp_path / f"报告.{form}"
    _, out, err = pilot(capsys, "check", "local", "--export", str(file))
    assert out
    assert f"Written to {file}." in err
    assert file.read_text(encoding="utf-8").startswith(begins)


def test_a_report_that_cannot_be_written_says_why(
    host: Host, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = pilot(capsys, "check", "local", "--export", str(tmp_path / "report.pdf"))
    assert (code, out, ".html, .md, .json" in err) == (2, "", True)
    code, _, err = pilot(capsys, "check", "local", "--export", str(tmp_path / "no" / "report.md"))
    assert (code, "could not be written" in err) == (1, True)


def test_two_hosts_compared(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    remote("good")
    remote("bad", **OLD)
    code, out, _ = pilot(capsys, "compare", "good", "bad")
    assert (code, "glibc 2.20" in out, "CPU governor" in out) == (1, True, False)
    code, out, _ = pilot(capsys, "compare", "good", "bad", "--json")
    told = json.loads(out)
    assert (code, told["hosts"], [one["name"] for one in told["checks"]]) == (1, ["good", "bad"], ["c_library"])
    assert [one["name"] for one in told["facts"]] == ["libc"]
    assert told["checks"][0]["right"] == {"level": "fail", "seen": "glibc 2.20"}
    assert pilot(capsys, "compare", "good", "good")[:2] == (0, "Nothing differs.\n")
    assert "CPU governor" in pilot(capsys, "compare", "good", "bad", "--all")[1]
    assert pilot(capsys, "compare", "good", "local")[0] == 2
    assert pilot(capsys, "compare", "good", "nobody")[0] == 2


def test_waived_and_counting_again(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gpu = remote("gpu1", **OLD)
    code, _, err = pilot(capsys, "waive", "gpu1", "c_library", "--reason", "", "--name", "ann")
    assert (code, "needs a reason" in err) == (2, True)
    code, out, _ = pilot(capsys, "waive", "gpu1", "c_library", "--reason", "known", "--name", "Ann Lee", "--json")
    assert (code, json.loads(out)) == (0, {"host": "gpu1", "check": "c_library", "waived": True})
    checked = observe.judged(gpu)
    assert checked is not None
    assert not any(one.failed for one in checked.judged)
    assert pilot(capsys, "waive", "gpu1", "c_library", "--end")[1] == "“C library” counts again on gpu1.\n"
    assert pilot(capsys, "waive", "gpu1", "c_library", "--end")[0] == 2
    say_again(gpu)
    code, _, err = pilot(capsys, "waive", "gpu1", "c_library", "--reason", "known", "--name", "ann")
    assert (code, "passes on gpu1" in err) == (2, True)


def test_a_waived_failure_does_not_fail_the_command(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    pilot(capsys, "profiles", "copy", "this-machine-cpu", "Huge")
    pilot(capsys, "profiles", "set", "huge", "room_least_gib=1000000", "room_wished_gib=1000000")
    checking = ("check", "local", "--profile", "huge")
    assert pilot(capsys, *checking)[0] == 1
    found = json.loads(pilot(capsys, *checking, "--json")[1])["checks"]
    failing = [one["name"] for one in found if one["level"] == "fail"]
    assert "room_in_work_folder" in failing
    for name in failing:
        waiving = ("waive", "local", name, "--reason", "a test", "--name", "Ann Lee", "--profile", "huge")
        assert pilot(capsys, *waiving)[0] == 0
    code, out, _ = pilot(capsys, *checking)
    assert (code, out.count("waived by Ann Lee on ")) == (0, len(failing))
    told = json.loads(pilot(capsys, *checking, "--json")[1])
    assert (told["counts"]["waived"], "fail" in told["counts"]) == (len(failing), False)


def test_a_profile_of_ones_own_from_copy_to_removal(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = pilot(capsys, "profiles", "copy", "ascend-two-cards", "机房 A", "--json")
    assert (code, json.loads(out)["id"]) == (0, "机房-a")
    setting = ("profiles", "set", "机房-a", "cores=8", "sysctls:vm/swappiness=5", "--without-check", "nvme_array")
    code, out, _ = pilot(capsys, *setting, "--check", "roce_ports", "--name", "Room A", "--json")
    told = json.loads(out)
    assert (code, told["title"]["zh"], told["limits"]["cores"]["value"]) == (0, "Room A", 8)
    assert told["limits"]["sysctls"]["value"] == {"kernel/numa_balancing": 0, "vm/swappiness": 5}
    assert ("nvme_array" in told["checks"], "roce_ports" in told["checks"]) == (False, True)
    listed = json.loads(pilot(capsys, "profiles", "list", "--json")[1])["profiles"]
    assert listed[-1] == {"id": "机房-a", "title": "Room A", "own": True, "based_on": "ascend-two-cards"}
    assert "Room A" in pilot(capsys, "profiles", "list")[1]
    assert "own value; usually 16" in pilot(capsys, "profiles", "show", "机房-a")[1]
    assert pilot(capsys, "profiles", "remove", "机房-a")[:2] == (0, "机房-a was removed.\n")
    assert pilot(capsys, "profiles", "show", "机房-a")[0] == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["copy", "moon", "x"], "There is no profile moon"),
        (["copy", "ascend-two-cards", " "], "needs a name"),
        (["set", "ascend-two-cards", "cores=8"], "built-in"),
        (["remove", "ascend-two-cards"], "built-in"),
        (["set", "lab", "cores"], "name=value"),
        (["set", "lab", "cores=x"], "whole number"),
        (["set", "lab", "cores:a=1"], "no entry a"),
        (["set", "lab", "--check", "moon"], "cannot belong"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(
    data: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    pilot(capsys, "profiles", "copy", "ascend-two-cards", "lab")
    code, out, err = pilot(capsys, "profiles", *words)
    assert (code, out) == (2, "")
    assert says in err
