"""From indexes only the files are taken whose SHA-256 the list names; real pip with real small wheels says so."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from console.diagnose.findings import findings
from console.plans.ascend import Options, script
from tests.jobs.ascend_wheels import wheel
from tests.plans.shells import run


@pytest.fixture
def options(tmp_path: Path) -> Options:
    made = Options(str(tmp_path / "work 目录"))
    subprocess.run([sys.executable, "-m", "venv", made.venv], check=True)
    return made


def group(options: Options, links: Path, lock: str) -> "subprocess.CompletedProcess[str]":
    venv = Path(options.venv)
    (venv / "pinned.txt").write_text("alpha==1.0\nbeta-x==2.0\n")
    (venv / "lock.txt").write_text(lock)
    values = {
        "group": "alpha beta-x",
        "python": "3.11",
        "indexes": "",
        "tools": "",
        "from_source": "",
        "source": "index",
    }
    text = script(options, "aarch64", "group", values)
    return run(text, links.parent / "at", PIP_NO_INDEX="1", PIP_FIND_LINKS=links.as_uri())


def installed(options: Options) -> set[str]:
    told = subprocess.run(
        [f"{options.venv}/bin/python", "-m", "pip", "list", "--format=freeze"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {line for line in told.stdout.split() if line.startswith(("alpha", "beta"))}


def of(file: Path) -> str:
    return f"--hash=sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"


def test_what_has_a_hash_must_match_it_and_what_has_none_is_taken_too(options: Options, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    right, _ = wheel(links, "alpha", "1.0", ""), wheel(links, "beta_x", "2.0", "")
    lock = f"alpha==1.0 \\\n    --hash=sha256:{'0' * 64} \\\n    {of(right)}\nbeta-x==2.0\n"
    done = group(options, links, lock)
    assert done.returncode == 0, done.stdout + done.stderr
    assert installed(options) == {"alpha==1.0", "beta-x==2.0"}


def test_another_file_under_the_right_name_is_refused_and_nothing_of_it_installed(
    options: Options, tmp_path: Path
) -> None:
    links = tmp_path / "links"
    links.mkdir()
    right, _ = wheel(links, "alpha", "1.0", ""), wheel(links, "beta_x", "2.0", "")
    lock = f"alpha==1.0 \\\n    {of(right)}\nbeta-x==2.0\n"
    right.unlink()
    wheel(links, "alpha", "1.0", "import os  # not what was listed\n")
    done = group(options, links, lock)
    assert done.returncode == 1
    assert installed(options) == set()
    assert findings(done.stdout + done.stderr)[0].failure.id == "pip-hash", done.stderr
