"""The pretended vLLM as a program: a runtime folder, the arguments it takes, how it starts and ends."""

import importlib.util
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.errors import EngineError
from console.serving.client import EngineClient
from console.serving.command import command
from tests.serving.subjects import spec

RUNTIME = Path(__file__).parents[2] / "scripts" / "fake" / "runtime.py"
LONGEST_S = 30


def make(folder: Path, misfortunes: str = "") -> Path:
    loaded = importlib.util.spec_from_file_location("runtime", RUNTIME)
    assert loaded
    assert loaded.loader
    module = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(module)
    made: Path = module.make(folder, misfortunes)
    return made


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list["subprocess.Popen[str]"]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def start(folder: Path, port: int, processes: list["subprocess.Popen[str]"]) -> "subprocess.Popen[str]":
    made = command(spec(port=port, max_num_seqs=4, kv_space_gib=0.5), str(folder))
    process = subprocess.Popen(
        made.argv, env={**os.environ, **made.env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    processes.append(process)
    return process


def wait_for(client: EngineClient) -> None:
    deadline = time.monotonic() + LONGEST_S
    while True:
        try:
            return client.health()
        except EngineError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_our_own_command_starts_it_and_sigterm_ends_it(
    tmp_path: Path, port: int, started: list["subprocess.Popen[str]"]
) -> None:
    process = start(make(tmp_path / "运行 time"), port, started)
    with EngineClient(f"http://127.0.0.1:{port}") as client:
        wait_for(client)
        assert client.models() == ["smol"]
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 0
    assert "Application startup complete." in said
    assert "Shutting down" in said


@pytest.mark.parametrize(("misfortune", "code"), [("--exit-at-start 3", 3), ("--die-after 0.1 --die-code 137", -9)])
def test_it_ends_as_told(
    misfortune: str, code: int, tmp_path: Path, port: int, started: list["subprocess.Popen[str]"]
) -> None:
    process = start(make(tmp_path, f"--slow-start 0 {misfortune}"), port, started)
    said, _ = process.communicate(timeout=LONGEST_S)
    assert (process.returncode, "ERROR" in said) == (code, True), said


def test_misfortunes_are_read_at_each_start(tmp_path: Path, port: int, started: list["subprocess.Popen[str]"]) -> None:
    folder = make(tmp_path, "--exit-at-start 1")
    assert start(folder, port, started).wait(LONGEST_S) == 1
    (folder / "misfortunes").write_text("--slow-start 0\n")
    start(folder, port, started)
    with EngineClient(f"http://127.0.0.1:{port}") as client:
        wait_for(client)


def test_a_port_that_is_taken_ends_it(tmp_path: Path, started: list["subprocess.Popen[str]"]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        process = start(make(tmp_path, "--slow-start 0"), int(taken.getsockname()[1]), started)
        said, _ = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 1
    assert "Address already in use" in said


def test_words_that_vllm_does_not_know_end_it_as_they_end_the_real_one(tmp_path: Path) -> None:
    vllm = str(make(tmp_path) / "bin" / "vllm")
    ran = subprocess.run([vllm, "serve", "/m", "--memory_efficient_attention"], capture_output=True, text=True)
    assert (ran.returncode, "unrecognized arguments" in ran.stderr) == (2, True)
    assert subprocess.run([vllm, "--version"], capture_output=True, text=True, check=True).stdout == "0.32.0+cpu\n"
