"""The `pilot` command as people and scripts run it: a process of its own, its words and its exit codes."""

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from console.text import catalog

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "tests" / "samples" / "host"
HAN = re.compile(r"[\u4e00-\u9fff]")
VERBS = ("", "up", "worker", "doctor", "run", "stop", "parse")

Pilot = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def pilot(tmp_path: Path) -> Pilot:
    """Runs one verb on a data folder that does not exist yet."""

    def run(*words: str, stdin: bytes = b"", **changes: str) -> subprocess.CompletedProcess[bytes]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
        variables = {**kept, "PILOT_DATA": str(tmp_path / "data 数据"), "LANG": "C.UTF-8", **changes}
        command = [sys.executable, "-m", "console", *words]
        return subprocess.run(command, cwd=ROOT, env=variables, input=stdin, capture_output=True, timeout=300)

    return run


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("lang", ["en_US.UTF-8", "zh_CN.UTF-8"])
def test_help_in_both_languages(pilot: Pilot, verb: str, lang: str, tmp_path: Path) -> None:
    done = pilot(*([verb] if verb else []), "--help", LANG=lang)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert "--help" in text
    assert "--data" in text
    if lang.startswith("zh") and len(catalog("zh")) < 100:
        pytest.skip("the Chinese catalog has hardly any entry yet")
    assert bool(HAN.search(text)) == lang.startswith("zh")
    assert not (tmp_path / "data 数据").exists(), "reading help writes nothing"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nothing"],
        ["up", "--port", "0"],
        ["up", "--port", "eighty"],
        ["doctor", "--port", "65536"],
        ["doctor", "--no-such-option"],
        ["parse"],
        ["stop"],
        ["stop", "one", "--all"],
    ],
)
def test_wrong_words_end_with_2_and_a_sentence(pilot: Pilot, words: list[str]) -> None:
    done = pilot(*words)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.strip()
    assert b"Traceback" not in done.stderr


def test_a_known_output_is_read(pilot: Pilot) -> None:
    done = pilot("parse", "free", stdin=(SAMPLES / "free_kunpeng_2t.txt").read_bytes())
    assert done.returncode == 0
    assert isinstance(json.loads(done.stdout), dict)


def test_an_unknown_kind_lists_those_there_are(pilot: Pilot) -> None:
    done = pilot("parse", "sandwich", stdin=b"ham")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"lscpu" in done.stderr
    assert b"npu_smi_info" in done.stderr


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("lscpu", b""),
        ("npu_smi_info", b"\xff\xfe\x00\x80\n\xc3\x28"),
        ("disks", b"\x00" * 5000),
        ("free", "中文输出\n".encode("gb18030")),
    ],
)
def test_odd_bytes_are_no_failure_of_ours(pilot: Pilot, kind: str, given: bytes) -> None:
    done = pilot("parse", kind, stdin=given)
    assert done.returncode in (0, 2)
    assert b"Traceback" not in done.stderr
    if done.returncode == 0:
        json.loads(done.stdout)
    else:
        assert done.stderr.strip()


def test_the_doctor_finds_its_way_in_an_empty_folder(pilot: Pilot, tmp_path: Path) -> None:
    done = pilot("doctor", "--port", "1")
    assert done.returncode == 0, done.stderr
    words = done.stdout.decode()
    assert "does not run" in words
    assert "nothing answers on port 1" in words
    assert (tmp_path / "data 数据" / "console.sqlite").stat().st_mode & 0o077 == 0


def test_the_doctor_speaks_json(pilot: Pilot) -> None:
    found = json.loads(pilot("doctor", "--json").stdout)
    assert {one["level"] for one in found} <= {"ok", "warn", "fail"}
    assert {"console", "packages", "data folder", "database", "worker", "pages"} <= {one["title"] for one in found}


def test_the_doctor_speaks_chinese(pilot: Pilot) -> None:
    if len(catalog("zh")) < 100:
        pytest.skip("the Chinese catalog has hardly any entry yet")
    assert HAN.search(re.sub(r"\S*数据\S*", "", pilot("doctor", LANG="zh_CN.UTF-8").stdout.decode()))


def test_a_folder_that_cannot_be_written_is_named(pilot: Pilot, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    folder = tmp_path / "read-only"
    folder.mkdir(mode=0o500)
    done = pilot("doctor", PILOT_DATA=str(folder))
    assert done.returncode == 1
    assert "cannot be written" in " ".join(done.stdout.decode().split())


@pytest.mark.parametrize("verb", [["doctor"], ["stop", "--all"], ["run"]])
def test_a_folder_that_is_a_file_is_named(pilot: Pilot, tmp_path: Path, verb: list[str]) -> None:
    (tmp_path / "file").write_text("not a folder")
    done = pilot(*verb, PILOT_DATA=str(tmp_path / "file"))
    assert done.returncode == 1
    assert b"--data" in done.stdout + done.stderr
    assert b"Traceback" not in done.stderr
    assert (tmp_path / "file").read_text() == "not a folder"


def database(tmp_path: Path, version: int) -> Path:
    """A data folder with a database of this version of the schema."""
    folder = tmp_path / "data 数据"
    folder.mkdir()
    with contextlib.closing(sqlite3.connect(folder / "console.sqlite")) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    return folder / "console.sqlite"


@pytest.mark.parametrize("verb", [["doctor"], ["stop", "--all"], ["run"], ["up", "--no-browser", "--port", "18999"]])
def test_a_newer_database_is_left_alone(pilot: Pilot, tmp_path: Path, verb: list[str]) -> None:
    path = database(tmp_path, 999)
    done = pilot(*verb)
    assert done.returncode == 1
    assert "newer version" in " ".join((done.stdout + done.stderr).decode().split())
    assert b"Traceback" not in done.stderr
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (999,)


def test_a_damaged_database_is_told(pilot: Pilot, tmp_path: Path) -> None:
    database(tmp_path, 0).write_bytes(b"this is no database" * 500)
    done = pilot("doctor")
    assert done.returncode == 1
    assert b"cannot be opened" in b" ".join(done.stdout.split())


def test_the_option_for_the_folder_stands_before_or_after_the_verb(pilot: Pilot, tmp_path: Path) -> None:
    for number, words in enumerate((["--data", "{}", "doctor"], ["doctor", "--data", "{}"])):
        folder = tmp_path / f"chosen-{number}"
        done = pilot(*(word.format(folder) for word in words), "--json")
        assert str(folder) in done.stdout.decode()
        assert (folder / "console.sqlite").exists()
    assert not (tmp_path / "data 数据").exists()


def test_stopping_where_there_is_nothing(pilot: Pilot) -> None:
    done = pilot("stop", "--all")
    assert (done.returncode, done.stdout.decode().strip()) == (0, "There is no instance.")
    assert json.loads(pilot("stop", "--all", "--json").stdout) == {"stopped": [], "failed": {}}
    done = pilot("stop", "nobody")
    assert done.returncode == 1
    assert b"There is no instance nobody." in done.stderr


def test_an_unknown_host_is_named(pilot: Pilot) -> None:
    done = pilot("run", "--host", "moon")
    assert done.returncode == 1
    assert b"There is no host named moon. Known: local." in done.stderr


def test_one_worker_a_folder(pilot: Pilot, tmp_path: Path) -> None:
    assert pilot("worker", "--stop").stdout.decode().strip() == "No worker runs for this data folder."
    variables = {**os.environ, "PILOT_DATA": str(tmp_path / "data 数据")}
    first = subprocess.Popen([sys.executable, "-m", "console", "worker"], cwd=ROOT, env=variables)
    try:
        deadline = time.monotonic() + 120
        while not any(one["title"] == "worker" and "process" in one["seen"] for one in findings(pilot)):
            assert time.monotonic() < deadline, "the worker did not come up"
        second = pilot("worker", LANG="C.UTF-8")
        assert (second.returncode, second.stdout) == (1, b"")
        assert b"A worker runs for this data folder already." in second.stderr
        assert first.poll() is None
        assert pilot("worker", "--stop").stdout.decode().strip() == "The worker was ended."
        assert first.wait(timeout=60) == 0
    finally:
        first.kill()
        first.wait()


def findings(pilot: Pilot) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(pilot("doctor", "--json").stdout)
    return found


def test_the_pages_print_their_link_and_no_request(pilot: Pilot, tmp_path: Path) -> None:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    log = tmp_path / "log"
    with log.open("wb") as file:
        variables = {**os.environ, "PILOT_DATA": str(tmp_path / "data 数据"), "LANG": "C.UTF-8"}
        command = [sys.executable, "-m", "console", "up", "--no-browser", "--port", str(port)]
        up = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=file, stderr=file)
    try:
        deadline = time.monotonic() + 120
        while True:
            with contextlib.suppress(httpx.HTTPError):
                refused = httpx.get(f"http://127.0.0.1:{port}/?token=guessed", trust_env=False, timeout=60)
                break
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        assert refused.status_code == 403
    finally:
        up.send_signal(signal.SIGINT)
        assert up.wait(timeout=60) in (0, 130)
        pilot("worker", "--stop")
    printed = log.read_text()
    assert f"http://127.0.0.1:{port}/?token=" in printed
    assert "guessed" not in printed


def test_a_reader_that_went_away_is_no_failure_with_a_traceback(tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m console parse lscpu --help | true"
    variables = {**os.environ, "PILOT_DATA": str(tmp_path)}
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=variables, capture_output=True, timeout=120)
    assert b"Traceback" not in done.stderr


def test_ctrl_c_ends_with_130_and_no_traceback(tmp_path: Path) -> None:
    variables = {**os.environ, "PILOT_DATA": str(tmp_path)}
    command = [sys.executable, "-m", "console", "parse", "lscpu"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=variables, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    wait = Path(f"/proc/{process.pid}/wchan")
    deadline = time.monotonic() + 120
    while "pipe" not in wait.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in error
