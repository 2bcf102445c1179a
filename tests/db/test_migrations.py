"""The database file of every older console is brought up to date with its rows intact; a newer one is left alone."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Inspector, create_engine, inspect

from db.connect import open_database
from db.migrations import CHANGES, SchemaTooNew
from db.models import Row
from tests.running import ROOT, free_port, pilot

ROWS: list[dict[str, list[tuple[object, ...]]]] = [
    {
        "host": [(1, "local", "local", "/data/pilot", 1.5)],
        "probe": [(1, 1, "me", 2.0, 3.0)],
        "observation": [(1, 1, "lscpu", "Architecture: x86_64 汉字", 0, 0.25, 0), (2, 1, "npu_smi", "", None, None, 1)],
        "job": [
            (1, "check", "host:1", 1, "{}", "succeeded", 2, "me", 1, '["install"]', 4.0, 5.0, 6.0, None, None, None, 0),
            (2, "install", "host:1", 1, "{}", "waiting", 1, "me", 1, "[]", 7.0, 8.0, None, "{1}", "{2}", "yes", 1),
        ],
        "step": [(1, 2, 1, "torch", '{"script": "true"}', "running", 3, 9.0, None, 75, None)],
        "event": [(1, 4.0, "me", "job:1", None, "queued", None), (2, 5.0, "she", "job:1", "queued", "running", "{}")],
    },
    {
        "instance": [
            (1, 1, "smol", "local_cpu", '{"port": 8000}', 0, "up", "ready", "{}", 2, '{"phase": "sane"}', 10.0, 11.0)
        ],
        "attempt": [
            (1, 1, "me", "vllm serve", "/x/1", 12.0, 13.0, 14.0, 137),
            (1, 2, "me", "vllm serve", "/x/2", 15.0, None, None, None),
        ],
        "model_folder": [(1, 1, "/data/models/深度", "me", 16.0)],
    },
    {
        "conversation": [(1, "法国", 1, '{"temperature": 0}', 17.0, 18.0)],
        "message": [(1, 1, "user", "法国的首都?", "", "{}", 19.0), (2, 1, "assistant", "巴黎", "hm", "{}", 20.0)],
        "run": [(1, 1, 1, "quick", "smol", '{"concurrency": 1}', '{"requests": []}', 21.0, 22.0)],
    },
    {
        "host": [
            (2, "gpu1", "ssh", "/root/pilot", 23.0, '{"address": "10.0.0.5"}', "npu rack-1", None),
            (3, "gpu2#3", "ssh", "/root/pilot", 24.0, '{"address": "10.0.0.6"}', "", 25.0),
        ],
    },
    {
        "host": [(4, "排练", "ssh", "/root/pilot", 26.0, '{"address": "127.0.0.1"}', "", None, "two-healthy-910b4")],
        "waiver": [
            (1, 4, "room_for_cann", "磁盘下周到货", "王工", "me", 27.0, None),
            (2, 4, "c_library", "containers only", "Li", "me", 28.0, 29.0),
        ],
        "profile": [("my-two-cards", '{"title": "ours"}', "me", 30.0, 31.0)],
        "command": [
            (1, 4, "root@127.0.0.1", "me", "true", 3, 32.0, 33.0, 0, None, 0.25),
            (2, 4, "root@127.0.0.1", "me", "false", 1, 34.0, 34.0, None, "{}", 5.0),
        ],
    },
]  # fmt: skip
"""What each version could hold beyond the one before: table -> rows with a value, and an empty one, in every column."""


def written_by(version: int, path: Path) -> None:
    """A file as the console of that schema version left it, with rows in every table it knew."""
    with sqlite3.connect(path, isolation_level=None) as file:
        for change, rows in list(zip(CHANGES, ROWS, strict=True))[:version]:
            change(file)
            for table, lines in rows.items():
                for line in lines:
                    file.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(line))})", line)
        file.execute(f"PRAGMA user_version = {version}")
    file.close()


def tables(path: Path) -> dict[str, list[dict[str, object]]]:
    """Every row of every table, by column."""
    file = sqlite3.connect(path)
    file.row_factory = sqlite3.Row
    names = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {name: [dict(row) for row in file.execute(f"SELECT * FROM {name} ORDER BY rowid")] for name in names}
    file.close()
    return found


def version_of(path: Path) -> int:
    file = sqlite3.connect(path)
    (version,) = file.execute("PRAGMA user_version").fetchone()
    file.close()
    return int(version)


@pytest.mark.parametrize("version", range(len(CHANGES) + 1))
def test_an_older_file_is_migrated_with_its_rows(tmp_path: Path, version: int) -> None:
    path = tmp_path / "console.sqlite"
    written_by(version, path)
    before = tables(path)
    assert sum(map(len, before.values())) == sum(len(lines) for rows in ROWS[:version] for lines in rows.values())
    open_database(path).dispose()
    after = tables(path)
    assert version_of(path) == len(CHANGES)
    assert after.keys() == Row.metadata.tables.keys()
    for name, rows in before.items():
        kept = [{column: row[column] for column in rows[0]} for row in after[name]] if rows else []
        assert kept == rows
    open_database(path).dispose()
    assert tables(path) == after


def test_a_change_that_breaks_leaves_the_version_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE half (id INTEGER)")
        connection.execute("this is no SQL")

    path = tmp_path / "console.sqlite"
    written_by(len(CHANGES), path)
    before = tables(path)
    with monkeypatch.context() as patch:
        patch.setattr("db.migrations.CHANGES", [*CHANGES, breaks])
        with pytest.raises(sqlite3.OperationalError):
            open_database(path)
    assert (version_of(path), tables(path)) == (len(CHANGES), before)
    open_database(path).dispose()


def references(schema: Inspector, table: str) -> set[tuple[str, ...]]:
    """Columns of the table that point to another, and to which."""
    return {(*key["constrained_columns"], key["referred_table"]) for key in schema.get_foreign_keys(table)}


def test_the_schema_is_what_the_classes_map(tmp_path: Path) -> None:
    made, mapped = open_database(tmp_path / "made.sqlite"), create_engine("sqlite://")
    Row.metadata.create_all(mapped)
    seen = inspect(made)
    wished = inspect(mapped)
    assert set(seen.get_table_names()) == set(wished.get_table_names())
    for table in wished.get_table_names():
        columns = {one["name"]: one["nullable"] for one in seen.get_columns(table)}
        assert columns.keys() == {one["name"] for one in wished.get_columns(table)}
        keys = set(seen.get_pk_constraint(table)["constrained_columns"])
        assert keys == set(wished.get_pk_constraint(table)["constrained_columns"])
        # SQLite calls every INTEGER PRIMARY KEY nullable, which it never is.
        nullable = {name: yes for name, yes in columns.items() if name not in keys}
        assert nullable == {
            one["name"]: one["nullable"] for one in wished.get_columns(table) if one["name"] not in keys
        }
        points = {(*key["constrained_columns"], key["referred_table"]) for key in seen.get_foreign_keys(table)}
        assert points == {
            (*key["constrained_columns"], key["referred_table"]) for key in wished.get_foreign_keys(table)
        }
    made.dispose()
    mapped.dispose()


def test_a_second_active_job_of_one_subject_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "console.sqlite"
    written_by(len(CHANGES), path)
    file = sqlite3.connect(path)
    for state in ("queued", "running", "waiting"):
        with pytest.raises(sqlite3.IntegrityError):
            file.execute("UPDATE job SET state = ? WHERE id = 1", (state,))
    file.execute("UPDATE job SET state = 'failed' WHERE id = 2")
    file.execute("UPDATE job SET state = 'queued' WHERE id = 1")
    file.close()


class TestNewerFile:
    """Written by a console that knew more: nothing touches it, and every way in says so."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        path = tmp_path / "console.sqlite"
        written_by(len(CHANGES), path)
        file = sqlite3.connect(path)
        file.execute("CREATE TABLE invention (id INTEGER)")
        file.execute(f"PRAGMA user_version = {len(CHANGES) + 1}")
        file.close()
        return tmp_path

    def refused(self, *words: str, language: str = "C.UTF-8") -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "LC_ALL": language}
        return subprocess.run(pilot(*words), cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    def test_it_is_not_opened(self, folder: Path) -> None:
        before = tables(folder / "console.sqlite")
        with pytest.raises(SchemaTooNew):
            open_database(folder / "console.sqlite")
        assert tables(folder / "console.sqlite") == before

    def test_up_says_so_and_serves_nothing(self, folder: Path) -> None:
        ended = self.refused("up", "--no-browser", "--port", str(free_port()), "--data", str(folder))
        assert ended.returncode == 1
        assert f"was written by a newer version of this console (schema {len(CHANGES) + 1};" in ended.stderr
        assert "or choose another data folder with --data" in ended.stderr
        assert "Traceback" not in ended.stderr
        assert "token=" not in ended.stdout
        assert not (folder / "worker.lock").exists()

    def test_doctor_says_so_and_still_says_the_rest(self, folder: Path) -> None:
        ended = self.refused("doctor", "--json", "--data", str(folder))
        assert (ended.returncode, ended.stderr) == (1, "")
        lines = {line["title"]: line for line in json.loads(ended.stdout)}
        assert lines["database"]["level"] == "fail"
        assert "newer version of this console" in lines["database"]["seen"]
        assert lines["data folder"]["level"] in ("ok", "warn")


def test_many_processes_open_an_empty_folder_at_once(tmp_path: Path) -> None:
    """None waits in vain, none sees half a schema, and there is one host afterwards."""
    go = tmp_path / "go"
    script = (
        "import sys, time, pathlib\n"
        "from console.hosts import inventory\n"
        "print('here', flush=True)\n"
        f"while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.001)\n"
        "print(inventory.this_machine().id)\n"
    )
    environment = {**os.environ, "PILOT_DATA": str(tmp_path / "data")}
    command = [sys.executable, "-c", script]
    many = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    for one in many:
        assert one.stdout is not None
        assert one.stdout.readline() == "here\n"
    go.touch()
    ended = [(*one.communicate(), one.returncode) for one in many]
    assert ended == [("1\n", "", 0)] * 8
    assert len(tables(tmp_path / "data" / "console.sqlite")["host"]) == 1
