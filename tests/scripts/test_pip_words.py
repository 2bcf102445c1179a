"""What pip really prints when it fails becomes a sentence with something to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tests.scripts.checkout import wheel

sys.path.append(str(ROOT / "scripts"))  # where the scripts find each other

from pip_words import explain

CLOSED = "127.0.0.1:9"


def printed(lock: Path, *words: str | Path, **environment: str) -> str:
    """The output of an install that must fail."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    kept |= {"PIP_RETRIES": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", **environment}
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--target",
        lock.parent / "site",
        "--require-hashes",
        "--no-deps",
    ]
    ended = subprocess.run(
        [*command, "-r", lock, *words], env=kept, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert ended.returncode != 0
    return ended.stdout


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock.txt"
    path.write_text(f"stand-in==1.0 --hash=sha256:{'0' * 64}\n")
    return path


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_index_that_does_not_answer(lock: Path, scheme: str) -> None:
    said = printed(lock, PIP_INDEX_URL=f"{scheme}://{CLOSED}/simple/")
    words = explain(said, lock="requirements.lock.txt", wheels="")
    assert words.startswith("No package index answered")
    assert "pip download --require-hashes --no-deps --only-binary :all: -d wheels -r requirements.lock.txt" in words


def test_a_broken_proxy_is_named_without_its_password(lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@{CLOSED}")
    said = printed(lock, PIP_INDEX_URL="https://index.invalid/simple/", https_proxy=os.environ["HTTPS_PROXY"])
    words = explain(said, lock="", wheels="")
    assert words.startswith("The proxy for downloads does not work.")
    assert f"HTTPS_PROXY=http://***@{CLOSED}" in words
    assert "secret" not in words


def test_a_wheel_that_is_not_in_the_folder(lock: Path, tmp_path: Path) -> None:
    said = printed(lock, "--no-index", "--find-links", tmp_path)
    words = explain(said, lock="requirements.lock.txt", wheels=str(tmp_path))
    assert words.startswith(f"The folder {tmp_path} lacks stand-in==1.0")


def test_a_wheel_that_is_not_the_tested_one(lock: Path, tmp_path: Path) -> None:
    wheel(tmp_path, ["something"])
    said = printed(lock, "--no-index", "--find-links", tmp_path)
    assert "its checksum differs" in explain(said, lock="", wheels=str(tmp_path))


def test_a_full_disk_and_a_certificate() -> None:
    full = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
    assert explain(full, lock="", wheels="").startswith("The disk became full")
    broken = "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"
    assert "PIP_CERT" in explain(f"WARNING: Retrying (Retry(total=4 ...)) after {broken}", lock="", wheels="")


def test_an_unknown_failure_shows_its_last_lines() -> None:
    said = explain("one\n\nERROR: https://me:secret@host/ is odd\n", lock="", wheels="")
    assert said.splitlines() == ["pip failed:", "  one", "  ERROR: https://***@host/ is odd"]


def test_it_speaks_chinese_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    with capsys.disabled():
        assert explain("No space left on device", lock="", wheels="").startswith(("安装软件包时磁盘已满", "The disk"))
