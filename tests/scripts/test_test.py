"""scripts/test.py in a small tree of its own: what it runs, how it ends, what its last line says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tests.running import free_port

GREEN = '''\
"""Tests."""

import pytest


def test_one() -> None:
    assert True


@pytest.mark.e2e
def test_beside_another() -> None:
    assert True


@pytest.mark.engine
def test_alone() -> None:
    assert True


@pytest.mark.real_vllm
def test_real() -> None:
    assert True


@pytest.mark.needs("no-such-program")
def test_program() -> None:
    raise AssertionError
'''


PORT = '''\
"""Both hold one port until the other has had time to want it too."""

import socket
import time

import pytest


def hold() -> None:
    with socket.create_server(("127.0.0.1", FREE)) as server, socket.create_connection(server.getsockname()):
        time.sleep(3)


@pytest.mark.engine
def test_pretended_takes_the_port() -> None:
    hold()


@pytest.mark.real_vllm
def test_real_takes_the_port() -> None:
    hold()
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """pyproject, scripts and conftest of this project around one green test, with the packages of this very Python."""
    for name in ("pyproject.toml", "requirements-test.lock.txt", "tests/conftest.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "scripts").mkdir()
    for name in ("test", "own_network", "venv_folder", "pip_words", "tell", "run"):
        shutil.copy(ROOT / "scripts" / f"{name}.py", tmp_path / "scripts")
    for package in ("console", "db"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text('"""A package."""\n')
    (tmp_path / "tests" / "test_green.py").write_text(GREEN)
    borrow(tmp_path / ".test-venv")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def borrow(folder: Path) -> None:
    """An environment that counts as complete and is the one that runs this test."""
    folder.mkdir()
    for name in ("bin", "lib"):
        (folder / name).symlink_to(Path(sys.prefix) / name)
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", folder / "pyvenv.cfg")
    stamped = "import test; (test.TESTS.folder / 'complete').write_text(test.TESTS.stamp())"
    subprocess.run([sys.executable, "-c", stamped], cwd=folder.parent / "scripts", check=True)


def run(project: Path, *words: str) -> tuple[int, list[str]]:
    outer = ("PYTEST_", "PILOT_TEST_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(outer)}
    ended = subprocess.run(
        [sys.executable, "scripts/test.py", *words], cwd=project, env=environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return ended.returncode, ended.stdout.splitlines()


def test_all_green(project: Path) -> None:
    code, said = run(project)
    assert said[-1] == "4 passed, 0 failed, 1 skipped"
    assert code == 0, "\n".join(said)
    assert "       1    no-such-program is not installed" in said
    parts = (
        "ruff check",
        "ruff format",
        "mypy",
        "pytest, fast",
        "pytest, two files at a time",
        "pytest, real engines",
        "pytest, pretended engines",
    )
    assert [f"== {part}" in said for part in parts] == [True] * len(parts)


def test_engines_of_both_kinds_may_take_one_port(project: Path) -> None:
    (project / "tests" / "test_port.py").write_text(PORT.replace("FREE", str(free_port())))
    code, said = run(project, "-k", "takes_the_port")
    assert said[-1] == "2 passed, 0 failed, 0 skipped", "\n".join(said)
    assert code == 0


def test_failures_of_both_parts_are_summed(project: Path) -> None:
    red = project / "tests" / "test_red.py"
    red.write_text('"""Red."""\n\nimport pytest\n\n\n@pytest.mark.e2e\ndef test_red() -> None:\n    raise OSError\n')
    with red.open("a") as lines:
        lines.write("\n\n@pytest.fixture\ndef broken() -> None:\n    raise OSError\n")
        lines.write('\n\n@pytest.mark.usefixtures("broken")\ndef test_broken() -> None:\n    pass\n')
    code, said = run(project)
    assert said[-1] == "4 passed, 2 failed, 1 skipped"
    assert code == 1


def test_each_part_can_fail_the_run_and_so_does_a_run_of_no_test(project: Path) -> None:
    (project / "console" / "__init__.py").write_text("'''A package.'''\n\nimport os\n\nx: int = os.sep\nimport sys\n")
    code, said = run(project, "-k", "nothing_is_called_this")
    assert code == 1
    parts = ("ruff check", "ruff format", "mypy")
    assert [f"FAILED: {part} (exit code 1)" in said for part in parts] == [True] * 3
    assert "FAILED: no test passed" in said
    assert said[-1] == "0 passed, 0 failed, 0 skipped"
