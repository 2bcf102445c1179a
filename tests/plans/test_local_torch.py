"""The step that must not bring a CUDA build of several gigabytes unasked, against small indexes on loopback."""

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pip
import pytest

from console.plans.local_cpu import NOT_THE_CPU_BUILD, LocalCpuTarget, catalog, runtime_folder
from tests.plans.shells import MACHINE, OTHER, run, step

pytestmark = pytest.mark.skipif(MACHINE not in OTHER, reason="the runtime exists for x86_64 and aarch64")


@pytest.fixture
def site(target: LocalCpuTarget) -> Path:
    """An environment that has pip and nothing else."""
    folder = Path(runtime_folder(target))
    venv.create(folder, with_pip=False, symlinks=True)
    packages = next(folder.glob("lib/python3.*/site-packages"))
    (packages / "pip").symlink_to(Path(pip.__file__).parent)
    return packages


@pytest.fixture
def index(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    folder = tmp_path / "index"
    folder.mkdir()
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder)]
    log = tmp_path / "requests"
    with log.open("w") as requests:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=requests, text=True)
    assert server.stdout
    port = re.search(r"port (\d+)", server.stdout.readline())
    assert port
    yield folder, f"http://127.0.0.1:{port[1]}"
    server.terminate()
    server.wait()
    server.stdout.close()


def attempt(
    target: LocalCpuTarget, cpu_index: str, job: Path, index: str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    script = step(target, "torch").script.replace(catalog()["torch"]["cpu_index"], cpu_index)
    # The pip of the tests may be too old for raw progress, and their disk too small for the real file.
    script = script.replace("--progress-bar raw", "--progress-bar off")
    script = re.sub(r"^room .*$", "", script, flags=re.MULTILINE)
    return run(script, job, PIP_INDEX_URL=index, PIP_RETRIES="0", **environment)


def test_the_cpu_index_is_taken_first(
    target: LocalCpuTarget, site: Path, index: tuple[Path, str], tmp_path: Path
) -> None:
    wheel(index[0] / "cpu" / "torch", f"{catalog()['torch']['version']}+cpu")
    wheel(index[0] / "simple" / "torch", catalog()["torch"]["version"])
    ended = attempt(target, f"{index[1]}/cpu", tmp_path / "job", f"{index[1]}/simple")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [each.name for each in site.glob("torch-*")] == [f"torch-{catalog()['torch']['version']}+cpu.dist-info"]
    assert run(step(target, "torch").verify, tmp_path / "job").returncode == 0


def test_another_build_is_asked_about_and_not_downloaded(
    target: LocalCpuTarget, site: Path, index: tuple[Path, str], tmp_path: Path
) -> None:
    made = wheel(index[0] / "simple" / "torch", catalog()["torch"]["version"])
    address = index[1].replace("//", "//me:secret@") + "/simple"
    ended = attempt(target, f"{index[1]}/cpu", tmp_path / "job", address)
    assert ended.returncode == 75, ended.stdout + ended.stderr
    question = json.loads((tmp_path / "job" / "ask").read_text())
    assert question["sentence"] == NOT_THE_CPU_BUILD.sentence
    assert question["values"].keys() == NOT_THE_CPU_BUILD.values.keys()
    assert question["values"]["file"] == made.name
    assert question["values"]["size"] == f"{made.stat().st_size / 1e6:.0f} MB"
    assert question["values"]["place"] == index[1].removeprefix("http://")
    assert "secret" not in ended.stdout + ended.stderr + (tmp_path / "job" / "ask").read_text()
    requests = (tmp_path / "requests").read_text()
    assert f"HEAD /simple/torch/{made.name}" in requests
    assert f"GET /simple/torch/{made.name}" not in requests
    assert not list(site.glob("torch*"))


@pytest.mark.parametrize(("answer", "code"), [("yes", 0), ("no", 1)])
def test_the_answer(
    target: LocalCpuTarget,
    site: Path,
    index: tuple[Path, str],
    tmp_path: Path,
    answer: str,
    code: int,
) -> None:
    wheel(index[0] / "simple" / "torch", catalog()["torch"]["version"])
    pages = f"{index[1]}/cpu", tmp_path / "job", f"{index[1]}/simple"
    ended = attempt(target, *pages, PILOT_ANSWER=answer)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert bool(list(site.glob("torch-*"))) == (answer == "yes")
    assert ("declined" in ended.stderr) == (answer == "no")


def test_no_index_answers(target: LocalCpuTarget, site: Path, tmp_path: Path) -> None:
    ended = attempt(target, "http://127.0.0.1:9/cpu", tmp_path / "job", "http://127.0.0.1:9/simple")
    assert ended.returncode == 1
    assert "was found, neither on http://127.0.0.1:9/cpu nor on the package index of this host" in ended.stderr


def wheel(folder: Path, version: str) -> Path:
    """A torch that holds nothing, with the page that an index shows of it."""
    folder.mkdir(parents=True)
    name = f"torch-{version}-py3-none-any.whl"
    info = f"torch-{version}.dist-info"
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "".join(f"{info}/{each},,\n" for each in ("METADATA", "WHEEL", "RECORD")),
    }
    with zipfile.ZipFile(folder / name, "w") as archive:
        for each, text in files.items():
            archive.writestr(f"{info}/{each}", text)
        archive.writestr("padding", os.urandom(700_000))
    (folder / "index.html").write_text(f'<a href="{name.replace("+", "%2B")}">{name}</a>')
    return folder / name
