"""A model folder of another host is judged as if it were here, in two round trips and once only."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.errors import HostError
from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.local import LocalRunner
from console.hosts.runner import Outcome
from console.serving import launch, shelf
from console.serving.far_folder import brought, listed
from console.serving.shards import LFS_POINTER
from console.serving.shelf import model_on
from console.serving.weights import INDEX, MARK, ModelFolder, inspect, inspect_model
from tests.hosts.conftest import MakeSshd, data, sshd
from tests.serving.test_weights import folder, safetensors, sharded

__all__ = ["data", "folder", "sharded", "sshd"]


class Counting(LocalRunner):
    """A host of its own, as far as the console knows; counts the round trips."""

    def __init__(self) -> None:
        self.trips = 0

    def run(self, script: str, *, timeout_s: float = 30, stdin: bytes = b"") -> Outcome:
        self.trips += 1
        return super().run(script, timeout_s=timeout_s, stdin=stdin)


def far(path: Path, runner: LocalRunner | None = None) -> ModelFolder:
    runner = runner or Counting()
    (one,) = listed(runner, [str(path)], "")
    return inspect(str(path), brought(runner, one))


def cut(path: Path) -> None:
    weights = path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-3])


def pointers(path: Path) -> None:
    for name in ("tokenizer.json", "model.safetensors"):
        (path / name).write_bytes(LFS_POINTER + b"v1\noid sha256:0\nsize 1\n")


def garbage(path: Path) -> None:
    (path / "model.safetensors").write_bytes(b"\xff" * 7 + b"\x01" + b"x" * 1000)
    (path / "tiny.safetensors").write_bytes(b"\x00")


def half_downloaded(path: Path) -> None:
    below = path / ".cache" / "huggingface" / "download"
    below.mkdir(parents=True)
    (below / "model.safetensors.abc.incomplete").touch()
    (path / "odd name.part").touch()


def links(path: Path) -> None:
    (path / "gone").symlink_to("/nothing/there")
    (path / "sub").mkdir()
    kept = path.parent / "blob"
    (path / "config.json").rename(kept)
    (path / "config.json").symlink_to(kept)


def noise(path: Path) -> None:
    (path / MARK).write_text(json.dumps({"noise": True}))
    (path / "主机 $(x)`y`.txt").write_text("not asked for")
    (path / "-rf").write_text("no option")


def no_config(path: Path) -> None:
    (path / "config.json").unlink()
    (path / "tokenizer_config.json").write_text("{broken")


@pytest.mark.parametrize(
    "misfortune", [lambda _: None, cut, pointers, garbage, half_downloaded, links, noise, no_config]
)
def test_it_is_judged_as_if_it_were_here(folder: Path, misfortune: object) -> None:
    misfortune(folder)  # type: ignore[operator]
    assert far(folder) == inspect_model(str(folder))


def test_an_empty_folder(tmp_path: Path) -> None:
    assert far(tmp_path) == inspect_model(str(tmp_path))


def test_shards_and_their_index(sharded: Path) -> None:
    assert far(sharded) == inspect_model(str(sharded))
    (sharded / INDEX).write_text(json.dumps({"weight_map": {"c": "model-00001-of-00002.safetensors"}}))
    assert far(sharded) == inspect_model(str(sharded))


def test_hundreds_of_shards_take_two_round_trips_and_not_their_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    names = [f"model-{number:05}-of-00300.safetensors" for number in range(1, 301)]
    for name in names:
        (folder / name).write_bytes(safetensors(name, numbers=4000))
    runner = Counting()
    (one,) = listed(runner, [str(folder)], "")
    found = brought(runner, one)
    assert inspect(str(folder), found) == inspect_model(str(folder))
    assert runner.trips == 2
    assert sum(map(len, found.brought.values())) < 300 * 300


def test_what_was_not_brought_is_asked_for(folder: Path) -> None:
    (folder / "notes.txt").write_bytes(bytes(range(256)))
    runner = Counting()
    (one,) = listed(runner, [str(folder)], "")
    found = brought(runner, one)
    assert found.read("notes.txt", 250) == bytes(range(250, 256))
    assert found.read("notes.txt", 3, 2) == b"\x03\x04"
    with pytest.raises(OSError):
        found.read("nothing")


def test_a_folder_that_changed_while_it_was_read(folder: Path) -> None:
    (one,) = listed(LocalRunner(), [str(folder)], "")
    (folder / "config.json").write_text("{}")
    with pytest.raises(HostError, match="changed while it was read"):
        brought(LocalRunner(), one)


@pytest.fixture
def remote(sshd: MakeSshd, tmp_path: Path) -> Iterator[Host]:
    """A host over SSH whose work folder is beside everything of the console."""
    yield inventory.add_host("gpu1", sshd().reach(), work_folder=str(tmp_path / "far work"), actor="me")
    shelf._known.clear()


@pytest.mark.e2e
@pytest.mark.needs("sshd", "ssh-keygen")
def test_the_models_of_a_host_over_ssh(remote: Host, folder: Path, tmp_path: Path) -> None:
    assert launch.models_on(remote) == []
    below = Path(remote.work_folder) / "models" / "smol"
    below.parent.mkdir(parents=True)
    folder.rename(below)
    (found,) = launch.models_on(remote)
    assert found == inspect_model(str(below))
    assert launch.models_on(inventory.this_machine()) == [], "what is there is not here"
    named = tmp_path / "elsewhere"
    named.symlink_to(below)
    launch.add_model(remote, str(named), actor="me")
    assert [one.folder for one in launch.models_on(remote)] == [str(below), str(named)]
    (below / "config.json").unlink()
    assert not model_on(remote, str(below)).usable, "a change is seen, whatever was known before"
    assert "There is no folder" in str(model_on(remote, "/nothing").problems[0].text)
    assert "is a file" in str(model_on(remote, str(below / "tokenizer.json")).problems[0].text)
