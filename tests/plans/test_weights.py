"""Getting a model from a hub: what is read of its list, and the scripts against a hub that misbehaves."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.errors import HostError, InvalidInput, NotFound
from console.plans import weights
from console.plans.weights_hub import Hub as Which
from console.plans.weights_hub import (
    HubFile,
    Remote,
    file_address,
    list_address,
    listed,
    next_page,
    read_list,
    remote,
    usual_endpoint,
    wanted,
)
from tests.jobs.hub import TOKEN, PretendedHub, hub
from tests.serving.test_weights import folder, safetensors

__all__ = ["folder"]
TOOLS = ("sh", "stat", "df", "awk", "cat", "mv", "rm", "mkdir", "cut", "sed", "tr", "tail", "head", "mktemp", "dirname",
         "basename", "sha256sum", "sha1sum", "sleep", "date")  # fmt: skip


@pytest.fixture
def here(folder: Path) -> Iterator[PretendedHub]:
    """A hub with a small model, a weight file of a few hundred kilobytes, and what a server does not need."""
    files = {one.name: one.read_bytes() for one in folder.iterdir()}
    files["model.safetensors"] = safetensors("a", "b", numbers=60_000)
    files |= {"sub/some notes.txt": b"x" * 10, "empty.txt": b"", "pytorch_model.bin": b"no", ".gitattributes": b"no"}
    with hub(files) as one:
        yield one


def asked(one: PretendedHub, which: Which = Which.HUGGINGFACE) -> Remote:
    return remote(which, "lab/Tiny", endpoint=one.address)


def sh(script: str, stdin: bytes = b"", **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """As a host runs it; `PATH` may be narrowed to the tools of a small one."""
    own = {**os.environ, "HF_TOKEN": "", "HF_HOME": "/nowhere", **environment}
    return subprocess.run(["sh", "-c", script], input=stdin, capture_output=True, check=False, env=own)


def files_of(one: Remote, **environment: str) -> list[HubFile]:
    found, address = [], list_address(one)
    while address:
        told = sh(weights.page_script(one, address), **environment)
        head, _, body = told.stdout.decode().partition("\n\n")
        first, _, link = head.partition("\n")
        assert first == "0 200", told.stderr
        found += read_list(one, body)
        address = next_page(address, link)
    return wanted(one, found)


def fetch(one: Remote, target: Path, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    if not (target / ".pilot-files").exists():
        told = sh(weights.room_script(one, str(target)), listed(one, files_of(one, **environment)).encode())
        assert told.returncode == 0, told.stderr
    return sh(weights.plan(one, str(target))[1].script, **environment)


def whole(here: PretendedHub, target: Path) -> bool:
    names = [name for name in here.files if name not in ("pytorch_model.bin", ".gitattributes")]
    assert not list(target.rglob("*.part"))
    return all((target / name).read_bytes() == here.files[name] for name in names)


@pytest.fixture
def no_curl(tmp_path: Path) -> dict[str, str]:
    """The environment of a host that has python3 and a few tools, and no curl."""
    narrow = tmp_path / "bin"
    narrow.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found, name
        (narrow / name).symlink_to(found)
    (narrow / "python3").symlink_to(Path(sys.executable).resolve())
    return {"PATH": str(narrow)}


@pytest.mark.parametrize("which", list(Which))
@pytest.mark.parametrize("client", ["curl", "python3"])
def test_a_whole_model(here: PretendedHub, which: Which, client: str, tmp_path: Path, no_curl: dict[str, str]) -> None:
    one, target = asked(here, which), tmp_path / "模型 of 'mine'"
    own = no_curl if client == "python3" else {}
    told = fetch(one, target, **own)
    assert told.returncode == 0, told.stderr
    assert whole(here, target)
    assert not (target / "pytorch_model.bin").exists()
    assert b"100 %" in told.stdout.splitlines()[-1]
    verify = weights.plan(one, str(target))[1].verify
    assert sh(verify, **own).returncode == 0
    asked_before = len(here.asked)
    assert fetch(one, target, **own).returncode == 0
    assert len(here.asked) == asked_before, "what is there is not fetched again"
    (target / "tokenizer.json").write_text("other")
    assert b"tokenizer.json" in sh(verify, **own).stdout


@pytest.mark.parametrize("client", ["curl", "python3"])
def test_a_cut_is_continued_at_the_byte(
    here: PretendedHub, client: str, tmp_path: Path, no_curl: dict[str, str]
) -> None:
    here.cut += [100_000, 50_000]
    told = fetch(asked(here), tmp_path / "m", **(no_curl if client == "python3" else {}))
    assert told.returncode == 0, told.stderr
    assert whole(here, tmp_path / "m")
    ranges = [range_ for path, range_ in here.asked if path == "/store/model.safetensors"]
    assert ranges == ["", "bytes=100000-", "bytes=150000-"]
    assert b"cut at 100000 of" in told.stdout


@pytest.mark.parametrize("client", ["curl", "python3"])
def test_a_server_without_ranges(here: PretendedHub, client: str, tmp_path: Path, no_curl: dict[str, str]) -> None:
    here.cut, here.ranges = [100_000], False
    told = fetch(asked(here), tmp_path / "m", **(no_curl if client == "python3" else {}))
    assert told.returncode == 0, told.stderr
    assert whole(here, tmp_path / "m")


def test_a_wrong_checksum(here: PretendedHub, tmp_path: Path) -> None:
    here.wrong.add("model.safetensors")
    told = fetch(asked(here), tmp_path / "m")
    assert told.returncode == 24
    assert b"model.safetensors arrived with another checksum" in told.stderr
    assert not list((tmp_path / "m").glob("*model.safetensors*"))
    assert not (tmp_path / "m" / "config.json").exists(), "it comes last, and makes the folder a model"


def test_small_files_are_compared_too(here: PretendedHub, tmp_path: Path) -> None:
    told = sh(
        weights.room_script(asked(here), str(tmp_path / "m")), listed(asked(here), files_of(asked(here))).encode()
    )
    assert told.returncode == 0
    here.files["tokenizer.json"] = b"[]"
    told = fetch(asked(here), tmp_path / "m")
    assert told.returncode == 24
    assert b"tokenizer.json arrived with another checksum" in told.stderr


@pytest.mark.parametrize("client", ["curl", "python3"])
def test_a_gated_model(here: PretendedHub, client: str, tmp_path: Path, no_curl: dict[str, str]) -> None:
    here.gated = True
    own = no_curl if client == "python3" else {}
    told = fetch(asked(here), tmp_path / "m", **own)
    assert told.returncode == 21
    assert b"gated or private" in told.stderr
    told = fetch(asked(here), tmp_path / "m", HF_TOKEN=TOKEN, **own)
    assert told.returncode == 0, told.stderr
    assert whole(here, tmp_path / "m")
    assert here.tokens == [""], "the store never gets the token"
    assert TOKEN.encode() not in told.stdout + told.stderr


def test_what_the_hub_lost(here: PretendedHub, tmp_path: Path) -> None:
    files = files_of(asked(here))
    sh(weights.room_script(asked(here), str(tmp_path / "m")), listed(asked(here), files).encode())
    del here.files["tokenizer.json"]
    assert fetch(asked(here), tmp_path / "m").returncode == 22


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk of its own needs root")
@pytest.mark.parametrize("client", ["curl", "python3"])
def test_a_full_disk(here: PretendedHub, client: str, tmp_path: Path, no_curl: dict[str, str]) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", disk], check=True)
    try:
        told = fetch(asked(here), disk / "m", **(no_curl if client == "python3" else {}))
        assert told.returncode == 28, told.stderr
        assert b"is full" in told.stderr
        assert not (disk / "m" / "model.safetensors").exists()
        assert (disk / "m" / "model.safetensors.part").stat().st_size > 10_000
    finally:
        subprocess.run(["umount", disk], check=True)


def test_the_room_there_is_and_what_is_there(here: PretendedHub, tmp_path: Path) -> None:
    files = files_of(asked(here))
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "model.safetensors.part").write_bytes(b"x" * 1000)
    told = sh(weights.room_script(asked(here), str(tmp_path / "m")), listed(asked(here), files).encode())
    free, there = map(int, told.stdout.split())
    assert there == 1000
    assert free > 0


@pytest.mark.parametrize(
    ("model", "more"),
    [("Tiny", {}), ("a/b/c", {}), ("a/../b", {}), ("a/b;c", {}), ("", {}), ("a/b", {"revision": "../x"}),
     ("a/b", {"revision": "x y"}), ("a/b", {"endpoint": "ftp://x"}), ("a/b", {"endpoint": "https://me:word@x"}),
     ("a/b", {"endpoint": "https://x/?a=1"})],
)  # fmt: skip
def test_what_cannot_be_asked_for(model: str, more: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        remote("huggingface", model, **more)


def test_addresses() -> None:
    one = remote("modelscope", " Qwen/Qwen3-8B/ ")
    assert (one.revision, one.endpoint) == ("master", usual_endpoint(Which.MODELSCOPE))
    assert file_address(one, "a b/c&d").endswith(
        "/api/v1/models/Qwen/Qwen3-8B/repo?Revision=master&FilePath=a%20b%2Fc%26d"
    )
    other = remote("huggingface", "Qwen/Qwen3-8B", "refs/pr/1", "https://hf-mirror.com/")
    assert file_address(other, "a b/c") == "https://hf-mirror.com/Qwen/Qwen3-8B/resolve/refs%2Fpr%2F1/a%20b/c"
    with pytest.raises(InvalidInput, match="no hub"):
        remote("github", "a/b")


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../b", "a\nb", "a\tb", "", "a//b", "."])
def test_a_hub_that_names_files_elsewhere(path: str) -> None:
    with pytest.raises(HostError, match="cannot be"):
        wanted(remote("huggingface", "a/b"), [HubFile("model.safetensors", 1), HubFile(path, 1)])


@pytest.mark.parametrize("body", ["", "{}", "[1]", '{"error": "x"}', "<html>", '[{"type": "file"}]'])
@pytest.mark.parametrize("which", list(Which))
def test_answers_that_are_no_list(which: Which, body: str) -> None:
    with pytest.raises(HostError, match="did not answer"):
        read_list(remote(which, "a/b"), body)


def test_a_model_without_safetensors() -> None:
    with pytest.raises(NotFound, match="no weights"):
        wanted(remote("modelscope", "a/b"), [HubFile("pytorch_model.bin", 5), HubFile("config.json", 5)])


def test_a_next_page_elsewhere_is_not_followed() -> None:
    assert next_page("https://x/api?a=1", '<https://x/api?a=2>; rel="next"') == "https://x/api?a=2"
    assert next_page("https://x/api", "") == ""
    with pytest.raises(HostError):
        next_page("https://x/api", '<https://y/api>; rel="next"')


@pytest.mark.parametrize("path", ["models", "/a/../b", "/a\nb"])
def test_folders_that_cannot_be(path: str) -> None:
    with pytest.raises(InvalidInput):
        weights.plan(remote("modelscope", "a/b"), path)


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("path", ["/m", '/it\'s $(touch /tmp/x) `y` "z" é/模型'])
def test_every_script_is_shell_and_differs_in_its_quoted_values_only(shell: str, path: str) -> None:
    one = remote("huggingface", "a/b")
    scripts = [text for step in weights.plan(one, path) for text in (step.script, step.verify) if text]
    plain = [text for step in weights.plan(one, "/m") for text in (step.script, step.verify) if text]
    for text, other in zip(
        [*scripts, weights.room_script(one, path)], [*plain, weights.room_script(one, "/m")], strict=True
    ):
        checked = subprocess.run([shell, "-n"], input=text.encode(), capture_output=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, b"")
        assert text.replace(f"folder={shlex.quote(path)}\n", "folder=/m\n") == other
