"""Searching a host for models: one round trip, everything that is one and nothing else, kept with its time."""

import json
from pathlib import Path

import pytest

from console.errors import HostError
from console.hosts import inventory
from console.serving import survey
from console.serving.problems import Trap
from console.serving.weights import ModelFolder, inspect_model
from tests.hosts.conftest import MakeSshd, data, sshd
from tests.serving.test_far_folder import Counting
from tests.serving.test_traps import hub_cache
from tests.serving.test_weights import CONFIG, folder, safetensors, sharded

__all__ = ["data", "folder", "sharded", "sshd"]


@pytest.fixture
def disk(folder: Path, tmp_path: Path) -> Path:
    """A disk with a good model, one in a cache, one without settings, one cut off, and folders that are none."""
    disk = tmp_path / "my disk"
    good = disk / "a" / "good 模型"
    good.parent.mkdir(parents=True)
    for name in ("cut", "bare"):
        other = disk / name
        other.mkdir()
        for one in folder.iterdir():
            (other / one.name).write_bytes(one.read_bytes())
    (disk / "cut" / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-2])
    (disk / "bare" / "config.json").unlink()
    folder.rename(good)
    snapshot = disk / ".cache" / "huggingface" / "hub" / "models--x--y" / "snapshots"
    (snapshot / "abc").mkdir(parents=True)
    for one in good.iterdir():
        (snapshot / "abc" / one.name).write_bytes(one.read_bytes())
    hub_cache(snapshot / "abc")
    (disk / "app").mkdir()
    (disk / "app" / "config.json").write_text('{"port": 80}')
    (disk / "app" / "node_modules" / "m").mkdir(parents=True)
    (disk / "app" / "node_modules" / "m" / "config.json").write_text(json.dumps(CONFIG))
    (disk / "loop").symlink_to(disk)
    return disk


def found(*roots: Path, runner: Counting | None = None) -> dict[str, ModelFolder]:
    said = survey.asked(runner or Counting(), [str(one) for one in roots])
    return {one.folder: one for one in survey._understood(said, ())[0]}


def test_one_round_trip_finds_every_model_and_judges_it_as_if_it_were_here(disk: Path) -> None:
    runner = Counting()
    models = found(disk, runner=runner)
    assert runner.trips == 1
    names = {folder.removeprefix(f"{disk}/") for folder in models}
    cached = ".cache/huggingface/hub/models--x--y/snapshots/abc"
    assert names == {"a/good 模型", "cut", "bare", cached}
    assert all(model == inspect_model(path) for path, model in models.items())
    assert [one.trap for one in models[f"{disk}/cut"].problems][-1:] == [Trap.CUT_SHARD]
    assert Trap.CONFIG in [one.trap for one in models[f"{disk}/bare"].problems]
    assert models[f"{disk}/{cached}"].links
    assert models[f"{disk}/a/good 模型"].parameters == 12


def test_hundreds_of_shards_and_an_index(sharded: Path, tmp_path: Path) -> None:
    for number in range(3, 200):
        (sharded / f"model-{number:05}-of-00199.safetensors").write_bytes(safetensors(str(number), numbers=4000))
    assert found(tmp_path)[str(sharded)] == inspect_model(str(sharded))


def test_nothing_there(tmp_path: Path) -> None:
    assert found(tmp_path, tmp_path / "nowhere", Path("/etc/passwd")) == {}


def test_more_than_may_be_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        (tmp_path / f"m{number}").mkdir()
        (tmp_path / f"m{number}" / "config.json").write_text(json.dumps(CONFIG))
    monkeypatch.setattr(survey, "MOST_FOLDERS", 3)
    models, _, cut = survey._understood(survey.asked(Counting(), [str(tmp_path)]), ())
    assert (len(models), cut) == (3, True)


@pytest.fixture
def remote(sshd: MakeSshd, tmp_path: Path) -> inventory.Host:
    return inventory.add_host("gpu1", sshd().reach(), work_folder=str(tmp_path / "far work"), actor="me")


@pytest.mark.e2e
@pytest.mark.needs("sshd", "ssh-keygen")
def test_what_a_host_showed_is_kept_with_its_time(remote: inventory.Host, disk: Path) -> None:
    assert survey.last(remote) is None
    seen = survey.survey(remote, (str(disk),))
    assert len(seen.models) == 4
    assert survey.last(remote) == seen
    assert survey.last(inventory.this_machine()) is None
    (disk / "cut" / "model.safetensors").unlink()
    assert survey.last(remote) == seen, "what was seen is what was seen"


def test_a_host_that_cannot_be_asked() -> None:
    class Refusing(Counting):
        def run(self, script: str, *, timeout_s: float = 30, stdin: bytes = b"") -> object:  # type: ignore[override]
            return super().run("echo no >&2; exit 3")

    with pytest.raises(HostError, match="could not be searched"):
        survey.asked(Refusing(), ["/"])
