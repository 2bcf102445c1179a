"""An old Python gets a sentence, or hands over to a newer one; never a syntax error."""

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.tree import ROOT

RUN = ROOT / "scripts" / "run.py"


def old_pythons() -> list[str]:
    """Interpreters older than the console takes, from PATH and from pyenv."""
    named = [shutil.which(f"python{version}") for version in ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10")]
    found = [path for path in named if path]
    if pyenv := shutil.which("pyenv"):
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=True).stdout.strip()
        found += [str(path) for path in sorted(Path(root).glob("versions/*/bin/python"))]
    return [path for path in found if is_old(path)]


def is_old(path: str) -> bool:
    asked = [path, "-c", "import sys; print(sys.version_info < (3, 11))"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() == "True"


OLD = old_pythons() or [pytest.param("", marks=pytest.mark.skip("no Python older than 3.11 is installed"))]


def test_it_can_be_read_by_python_3_4() -> None:
    ast.parse(RUN.read_text(), feature_version=(3, 4))


@pytest.mark.parametrize("python", OLD)
@pytest.mark.parametrize(
    ("language", "words"), [("C", "The console needs CPython 3.11 to 3.14. This is"), ("zh_CN", "当前是")]
)
def test_an_old_python_alone_says_what_to_install(python: str, language: str, words: str) -> None:
    environment = {"PATH": "/nowhere", "LANG": language}
    ended = subprocess.run([python, RUN], env=environment, capture_output=True, check=False)
    assert ended.returncode == 1
    said = ended.stderr.decode()
    assert words in said
    assert "Traceback" not in said


@pytest.mark.parametrize("python", OLD)
def test_an_old_python_hands_over_to_a_newer_one_on_path(python: str, tmp_path: Path) -> None:
    broken, whole = tmp_path / "python3.14", tmp_path / "python3.13"
    broken.write_text("#!/bin/sh\necho not installed >&2\nexit 127\n")  # as a pyenv shim without its version
    whole.write_text('#!/bin/sh\n[ "$1" = -c ] && echo 3.13 && exit\necho started "$@"\n')
    for program in (broken, whole):
        program.chmod(0o755)
    environment = {"PATH": str(tmp_path), "LANG": "C"}
    ended = subprocess.run(
        [python, RUN, "--port", "8600"], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.stdout == f"started {RUN} --port 8600\n"
