"""A package index that breaks off in the middle of a file: the step fails with words, and goes on when it is mended."""

import os
import threading
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pip
import pytest

from console.hosts import inventory
from console.jobs import history, jobs
from console.plans.local_cpu import LocalCpuTarget, catalog, plan, runtime_folder
from console.text import say
from tests.running import RunningConsole, opened, until

pytestmark = [pytest.mark.e2e, pytest.mark.engine]


def offer(folder: Path, name: str, version: str) -> None:
    """A wheel that holds nothing but 700 kB of padding, with the page that an index shows of it."""
    folder.mkdir(parents=True)
    file = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "".join(f"{info}/{each},,\n" for each in ("METADATA", "WHEEL", "RECORD")),
    }
    with zipfile.ZipFile(file, "w") as archive:
        for each, text in files.items():
            archive.writestr(f"{info}/{each}", text)
        archive.writestr("padding", os.urandom(700_000))
    (folder / "index.html").write_text(f'<a href="{file.name.replace("+", "%2B")}">{file.name}</a>')


class Index(ThreadingHTTPServer):
    """Serves a folder; while `broken`, every wheel ends half-way with its connection."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.folder, self.broken, self.broke = folder, True, 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answer(SimpleHTTPRequestHandler):
    server: Index

    def translate_path(self, path: str) -> str:
        return str(self.server.folder / path.strip("/").replace("%2B", "+"))

    def log_message(self, format: str, *words: object) -> None:
        pass

    def do_GET(self) -> None:
        if not (self.server.broken and self.path.endswith(".whl")):
            return super().do_GET()
        whole = Path(self.translate_path(self.path)).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(whole)))
        self.end_headers()
        self.wfile.write(whole[: len(whole) // 2])
        self.server.broke += 1
        self.close_connection = True
        return None


@contextmanager
def serving(folder: Path) -> Iterator[Index]:
    index = Index(folder)
    thread = threading.Thread(target=index.serve_forever, args=[0.05])
    thread.start()
    try:
        yield index
    finally:
        index.shutdown()
        thread.join()
        index.server_close()


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    offer(tmp_path / "index" / "cpu" / "torch", "torch", f"{catalog()['torch']['version']}+cpu")
    with serving(tmp_path / "index") as one:
        yield one


@pytest.fixture
def console(tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningConsole]:
    """Its worker knows no index but ours."""
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    one = RunningConsole(tmp_path / "data")
    with opened(one.folder):
        one.start(PIP_CONFIG_FILE="/dev/null", PIP_INDEX_URL=f"{index.address}/cpu", PIP_RETRIES="0")
        yield one
        one.close()


def test_a_download_that_breaks_off_is_taken_up_again(console: RunningConsole, index: Index) -> None:
    target = LocalCpuTarget(str(console.folder))
    venv.create(runtime_folder(target), with_pip=False, symlinks=True)
    site = next(Path(runtime_folder(target)).glob("lib/python3.*/site-packages"))
    (site / "pip").symlink_to(Path(pip.__file__).parent)
    step = next(each for each in plan(target) if each.name == "torch")
    script = step.script.replace(catalog()["torch"]["cpu_index"], f"{index.address}/cpu")
    script = script.replace("--progress-bar raw", "--progress-bar off")  # the pip of the tests may be too old for it
    host = inventory.this_machine()
    steps = [replace(step, script=script)]
    job_id = jobs.enqueue("install", f"host:{host.id}", host.id, say("Check"), steps, actor="me")
    until(lambda: not history.job(job_id).active, what="the failure")
    failed = history.job(job_id)
    assert (failed.state, failed.steps[0].code) == ("failed", 1), failed.steps[0].log()
    assert index.broke >= 2  # the CPU index, then the index of the host
    assert "broke off; asking the package index of this host" in failed.steps[0].log()
    assert "PyTorch could not be installed; what pip said is above." in failed.steps[0].log()
    assert not list(site.glob("torch*"))
    index.broken = False
    jobs.resume(job_id, actor="me")
    until(lambda: not history.job(job_id).active, what="the end of the job")
    job = history.job(job_id)
    assert (job.state, job.steps[0].attempt) == ("succeeded", 2), job.steps[0].log()
    assert [each.name for each in site.glob("torch-*")] == [f"torch-{catalog()['torch']['version']}+cpu.dist-info"]
