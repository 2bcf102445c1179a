"""Many hosts entered at once: shown first, then written together or not at all, and not a second time."""

import json
from pathlib import Path

import pytest

from console.__main__ import main
from console.errors import Conflict
from console.hosts import import_source, importing, inventory
from console.hosts.host_csv import read_csv
from console.hosts.import_source import Kind
from console.hosts.importing import Entry, Left, Preview, Read, Wanted, What
from console.hosts.inventory import Host
from console.hosts.reach import Jump, Reach, Sudo
from console.jobs import history
from tests.pages import seed

FILE = b"name,address,port,user,tags\nnpu-1,10.0.0.5,2222,ops,rack-1\nnpu-2,10.0.0.6,,,\n"


@pytest.fixture
def present(data: Path) -> Host:
    inventory.this_machine()
    reach = Reach("10.0.0.5", 22, "root", jumps=(Jump("10.0.0.1", 22, "me"),), sudo=Sudo.NOPASSWD)
    return inventory.add_host("npu-1", reach, tags=["old"], work_folder="/data/pilot", actor="me")


def shown(planned: Preview) -> list[tuple[str, str]]:
    return [(one.name, str(one.what)) for one in planned.entries]


def of(*found: Wanted | Left) -> list[Entry]:
    return list(importing.preview(Read(found)).entries)


def test_nothing_is_written_before_it_is_entered(present: Host) -> None:
    before = inventory.hosts()
    planned = importing.preview(read_csv(FILE))
    assert shown(planned) == [("npu-1", "change"), ("npu-2", "create")]
    assert inventory.hosts() == before
    assert history.events("host:3") == []


def test_what_the_file_does_not_say_stays(present: Host) -> None:
    planned = importing.preview(read_csv(FILE))
    changes = [
        (str(one.title), one.old and str(one.old), one.new and str(one.new)) for one in planned.entries[0].changes
    ]
    assert changes == [("port", "22", "2222"), ("user", "root", "ops"), ("tags", "old", "rack-1")]
    changed, made = importing.enter(planned, actor="ann")
    assert changed.reach == Reach("10.0.0.5", 2222, "ops", jumps=present.reach.jumps, sudo=Sudo.NOPASSWD)  # type: ignore[union-attr]
    assert (changed.id, changed.tags, changed.work_folder) == (present.id, ("rack-1",), "/data/pilot")
    assert (made.reach, made.tags, made.work_folder) == (Reach("10.0.0.6"), (), "/root/ascend-pilot")
    assert [(one.became, one.actor) for one in history.events(f"host:{present.id}")] == [
        ("edited", "ann"),
        ("created", "me"),
    ]


def test_the_same_file_again_changes_nothing(present: Host) -> None:
    importing.enter(importing.preview(read_csv(FILE)), actor="ann")
    before, told = inventory.hosts(), len(history.events())
    again = importing.preview(read_csv(FILE))
    assert shown(again) == [("npu-1", "same"), ("npu-2", "same")]
    assert importing.enter(again, actor="ann") == []
    assert inventory.hosts() == before
    assert len(history.events()) == told


def test_one_that_cannot_be_entered_keeps_all_out(present: Host) -> None:
    planned = importing.preview(read_csv(FILE))
    inventory.edit_host(present.id, "npu-1", Reach("10.9.9.9"), actor="bob")
    with pytest.raises(Conflict):
        importing.enter(planned, actor="ann")
    assert [one.name for one in inventory.hosts()] == ["local", "npu-1"]
    planned = importing.preview(read_csv(FILE))
    inventory.add_host("npu-2", Reach("10.0.0.7"), actor="bob")
    with pytest.raises(Conflict):
        importing.enter(planned, actor="ann")
    assert inventory.named("npu-1").reach == Reach("10.9.9.9")


def test_a_host_in_use_is_reached_as_before(present: Host) -> None:
    seed.instance(present, "deepseek", seed.State.ready)
    planned = importing.preview(read_csv(FILE))
    assert shown(planned) == [("npu-1", "refused"), ("npu-2", "create")]
    assert "instances that are not stopped: deepseek" in str(planned.entries[0].why)
    only_tags = importing.preview(read_csv(b"name,address,tags\nnpu-1,10.0.0.5,new\n"))
    assert [one.tags for one in importing.enter(only_tags, actor="ann")] == [("new",)]


def test_what_cannot_be_is_refused_with_why(present: Host) -> None:
    twice, local, name, tag, folder, port, key = of(
        Wanted("3", "a", "10.0.0.1"),
        Wanted("4", "a", "10.0.0.2"),
        Wanted("5", "local", "10.0.0.3"),
        Wanted("6", "a b", "10.0.0.4"),
        Wanted("7", "t", "10.0.0.5", tags=("a b", "!")),
        Wanted("8", "f", "10.0.0.6", work_folder="data"),
        Wanted("9", "p", "10.0.0.7", port=70000),
        Wanted("10", "k", "10.0.0.8", key_file="id"),
    )[1:]
    assert "Line 3 describes" in str(twice.why)
    assert "console runs on" in str(local.why)
    assert [str(one.why)[:14] for one in (name, tag, folder, port, key)] == [
        "“a b” is no na", "“!” is no tag.", "The work folde", "70000 is no po", "The key file m",
    ]  # fmt: skip
    assert {one.what for one in (twice, local, name, tag, folder, port, key)} == {What.REFUSED}


def test_a_host_can_be_left_out_and_a_twin_is_told(present: Host) -> None:
    planned = importing.preview(read_csv(FILE), ["npu-1"])
    assert shown(planned) == [("npu-1", "skipped"), ("npu-2", "create")]
    reach = present.reach
    assert reach is not None
    (twin,) = of(Wanted("2", "other", "10.0.0.5", jumps=reach.jumps))
    assert twin.what == What.CREATE
    assert [str(one) for one in twin.remarks] == ["npu-1 is reached at the same address and port."]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("hosts.csv", b"x", Kind.CSV),
        ("config", b"x", Kind.SSH),
        ("lab.conf", b"# ours\n\nHost a\n HostName 10.0.0.1\n", Kind.SSH),
        ("list", "名称;地址\na;b\n".encode("gb18030"), Kind.CSV),
    ],
)
def test_the_kind_of_a_file_is_evident(tmp_path: Path, name: str, content: bytes, kind: Kind) -> None:
    assert import_source.kind_of(tmp_path / name, content) == kind


def test_the_verb_shows_first_and_writes_when_told(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hosts.csv"
    file.write_bytes(FILE)
    assert main(["hosts", "import", str(file)]) == 0
    said = capsys.readouterr().out
    assert "2 new, 0 changed" in said
    assert "Nothing was written." in said
    assert [one.name for one in inventory.hosts()] == ["local"]
    assert main(["hosts", "import", str(file), "--yes", "--without", "npu-2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["line"], one["name"], one["what"]) for one in told["hosts"]] == [
        ("2", "npu-1", "create"),
        ("3", "npu-2", "skipped"),
    ]
    assert [one.name for one in inventory.hosts()] == ["local", "npu-1"]
    file.write_bytes(b"name,address\nx y,10.0.0.1\n")
    assert main(["hosts", "import", str(file), "--yes"]) == 1
    assert "is no name for a host" in capsys.readouterr().out
    assert main(["hosts", "import", str(tmp_path / "none")]) == 2
    (tmp_path / "odd").write_text("hello\n")
    assert main(["hosts", "import", str(tmp_path / "odd")]) == 2
    assert "Say which it is" in capsys.readouterr().err
