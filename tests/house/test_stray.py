"""Nothing of the machine the project was written on is left in it, and the locks name no index."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.house.tree import ROOT, tracked

COMMON = {"/", "/tmp", "/root", "/home", "/opt", "/usr", "/usr/src", "/srv", "/mnt", "/data", "/var/tmp", "/var/lib"}
"""Parents of a checkout that say nothing about the machine."""
PUBLIC = {"pypi.org", "files.pythonhosted.org", "localhost", "127.0.0.1", ""}
LOCKS = [name for name in tracked() if name.endswith(".lock.txt")]
PINNED = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)


def machine_paths() -> list[str]:
    """Folders that exist only here: the checkout, what it lies in, a home that is not root's, a Python of one's own."""
    candidates = [ROOT, ROOT.parent, Path.home(), Path(sys.base_prefix), *map(Path, index_words("find-links"))]
    return [str(path) for path in candidates if path.is_absolute() and str(path) not in COMMON]


def index_words(*options: str) -> list[str]:
    """What pip is told on this machine about where packages come from."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    lines = [line.partition("=") for line in listed.stdout.splitlines()]
    return [word for key, _, value in lines if key.endswith(options) for word in value.strip("'\"").split()]


def texts() -> list[tuple[str, str]]:
    found = []
    for name in tracked():
        try:
            found.append((name, (ROOT / name).read_text()))
        except UnicodeDecodeError:
            continue
    return found


def test_no_path_of_this_machine_is_in_the_tree() -> None:
    paths = "|".join(re.escape(path) for path in machine_paths())
    stray = re.compile(rf"(?<![\w./-])(?:{paths})(?![\w-])")
    assert [name for name, text in texts() if stray.search(text)] == []


def test_no_index_of_this_machine_is_in_the_tree() -> None:
    hosts = {urlsplit(word).hostname or "" for word in index_words("index-url", "proxy", "trusted-host")} - PUBLIC
    # Mirrors that the catalogs offer to everybody are knowledge, not a trace.
    own = [(name, text) for name, text in texts() if not name.startswith(("console/catalog/", "tests/samples/"))]
    assert [(name, host) for name, text in own for host in hosts if host in text] == []


def test_no_secret_is_in_the_tree() -> None:
    key = re.compile("-----BEGIN [A-Z ]*PRIVATE " + "KEY-----")
    assert [name for name, text in texts() if key.search(text)] == []


def test_the_locks_are_there() -> None:
    assert {"requirements.lock.txt", "requirements-test.lock.txt"} <= set(LOCKS)


NO_WHEEL = {"vllm", "torch-npu", "triton-ascend", "arctic-inference"}
"""Of some releases the index has no wheel for NPU hosts: built from source, or brought by a person; nothing to hash."""


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_pins_hashes_and_names_no_place(name: str) -> None:
    text = (ROOT / name).read_text()
    assert re.search(r"://|^\s*-(-index|-extra|-find|i |f |e )|file:|@ ", text, re.MULTILINE) is None
    entries = [entry for entry in re.split(r"\n(?=\S)", text) if not entry.startswith("#")]
    bare = {entry.partition("==")[0] for entry in entries if "--hash=sha256:" not in entry}
    assert bare <= (NO_WHEEL if "/runtime-ascend-" in name else set())


def test_the_locks_follow_from_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    console = dict(PINNED.findall((ROOT / "requirements.lock.txt").read_text()))
    tests = dict(PINNED.findall((ROOT / "requirements-test.lock.txt").read_text()))
    wanted = dict(PINNED.findall("\n".join(project["dependencies"])))
    assert wanted.items() <= console.items()
    extra = {
        name.lower(): version for name, version in PINNED.findall("\n".join(project["optional-dependencies"]["test"]))
    }
    assert json.dumps(extra.items() - tests.items(), default=list) == "[]"
    assert console.items() <= tests.items()


def test_every_dependency_says_why() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    listed = text.partition("dependencies = [")[2].partition("\n]")[0].strip().splitlines()
    assert [line for line in listed if not re.search(r'",\s+# \w', line)] == []
