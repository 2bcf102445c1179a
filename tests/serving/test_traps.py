"""The traps people meet with weights, each by a folder that has it, here and as a host over SSH shows it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from console.hosts.local import LocalRunner
from console.serving.asked import ServeSpec
from console.serving.beside import DESCRIPTION
from console.serving.far_folder import brought, listed
from console.serving.problems import Problem, Trap
from console.serving.traps import Place, place_of, problems_at, refusals
from console.serving.weight_files import INDEX
from console.serving.weights import ModelFolder, inspect, inspect_model
from tests.serving.test_weights import CONFIG, folder, sharded

__all__ = ["folder", "sharded"]
SPEC = ServeSpec(
    backend="ascend_docker",
    model_folder="/m",
    served_name="m",
    port=8000,
    chip="910B4",
    release="0.23.0",
    device_ids=(0,),
)


def looked(path: Path) -> ModelFolder:
    """Judged here and from afar, with the same result."""
    here = inspect_model(str(path))
    (one,) = listed(LocalRunner(), [str(path)], "")
    assert inspect(str(path), brought(LocalRunner(), one)) == here
    return here


def config(path: Path, **more: object) -> None:
    (path / "config.json").write_text(json.dumps({**CONFIG, **more}))


def only(found: list[Problem]) -> Problem:
    (one,) = found
    for text in (one.seen, one.why, one.fix):
        assert str(text)[-1] in ".)", "each is a whole sentence"
        assert "{" not in str(text)
    return one


def test_names_in_other_case(sharded: Path) -> None:
    (sharded / "model-00001-of-00002.safetensors").rename(sharded / "Model-00001-of-00002.safetensors")
    one = only(list(looked(sharded).problems))
    assert (one.trap, one.is_error) == (Trap.OTHER_CASE, True)
    assert "Model-00001-of-00002.safetensors" in str(one.seen)


def test_a_model_as_the_tool_of_ascend_leaves_it(sharded: Path) -> None:
    for number in (1, 2):
        old = sharded / f"model-0000{number}-of-00002.safetensors"
        old.rename(sharded / f"quant_model_weights-0000{number}-of-00002.safetensors")
    words = (sharded / INDEX).read_text().replace("model-0", "quant_model_weights-0")
    (sharded / INDEX).unlink()
    (sharded / "quant_model_weights.safetensors.index.json").write_text(words)
    assert only(list(looked(sharded).problems)).trap == Trap.DESCRIPTION
    misnamed = sharded / "quant_model_description_w8a8.json"
    misnamed.write_text("{}")
    one = only(list(looked(sharded).problems))
    assert (one.trap, one.is_error) == (Trap.DESCRIPTION, True)
    assert misnamed.name in str(one.seen)
    assert DESCRIPTION in str(one.fix)
    misnamed.rename(sharded / DESCRIPTION)
    found = looked(sharded)
    assert (found.problems, found.quantization, found.parameters) == ((), "ascend", 12)
    (sharded / "quant_model_weights-00002-of-00002.safetensors").unlink()
    assert only(list(looked(sharded).problems)).trap == Trap.MISSING_SHARDS


def test_formats_are_counted_from_the_headers(folder: Path) -> None:
    assert looked(folder).types == {"BF16": 12}


@pytest.mark.parametrize(("there", "says"), [(True, "names code"), (False, "is not there")])
def test_code_of_the_models_own(folder: Path, there: bool, says: str) -> None:
    config(folder, auto_map={"AutoConfig": "configuration_x.XConfig", "AutoModel": "configuration_x.X", "odd": None})
    if there:
        (folder / "configuration_x.py").write_text("")
    found = looked(folder)
    one = only(problems_at(found, Place()))
    assert (one.trap, one.is_error) == (Trap.CUSTOM_CODE, False)
    assert says in str(one.seen)
    assert problems_at(found, Place(trusting=True)) == []


def hub_cache(path: Path) -> None:
    """Every file a link to a blob beside the snapshot, as the cache of Hugging Face is laid out."""
    blobs = path.parent / "blobs"
    blobs.mkdir()
    for number, one in enumerate(sorted(path.iterdir())):
        one.rename(blobs / f"blob{number}")
        one.symlink_to(f"../blobs/blob{number}")


def test_links_into_a_cache_break_in_a_container(folder: Path) -> None:
    hub_cache(folder)
    found = looked(folder)
    assert found.usable, "vLLM on the host follows links"
    assert not only(problems_at(found, Place())).is_error
    inside = only(problems_at(found, Place(container=True)))
    assert (inside.trap, inside.is_error) == (Trap.LINKS, True)
    assert "cp -rL" in str(inside.fix)
    blobs = folder.parent / "blobs"
    seen = Place(container=True, mounts=(f"{blobs}:{blobs}:ro",))
    assert problems_at(found, seen) == []
    other = Place(container=True, mounts=(f"{blobs}:/elsewhere",))
    assert only(problems_at(found, other)).is_error


def test_links_within_the_folder_are_seen_in_a_container(folder: Path) -> None:
    (folder / "tokenizer.json").rename(folder / "t.json")
    (folder / "tokenizer.json").symlink_to("t.json")
    assert problems_at(looked(folder), Place(container=True)) == []


@pytest.mark.parametrize(
    ("family", "release", "refused"),
    [
        ("A2", "0.23.0", True),
        ("A3", "0.23.0", True),
        ("A5", "0.23.0", False),
        ("A2", "0.30.0rc2", False),
        ("", "", False),
    ],
)
def test_fp8_originals(folder: Path, family: str, release: str, refused: bool) -> None:
    config(folder, quantization_config={"quant_method": "fp8"})
    found = problems_at(looked(folder), Place(family=family, release=release))
    assert [one.trap for one in found] == ([Trap.QUANTIZATION] if refused else [])
    if refused:
        assert "W8A8" in str(only(found).fix)


def spoiled(path: Path) -> None:
    (path / "model.safetensors").unlink()


def nothing(_: Path) -> None:
    pass


def eight_bits(path: Path) -> None:
    config(path, quantization_config={"quant_method": "fp8"})


@pytest.mark.parametrize(
    ("misfortune", "words"), [(nothing, ""), (spoiled, "No weights"), (hub_cache, "links"), (eight_bits, "FP8")]
)
def test_a_launch_is_refused_for_what_is_an_error_there(
    folder: Path, misfortune: Callable[[Path], None], words: str
) -> None:
    misfortune(folder)
    found = refusals(replace(SPEC, model_folder=str(folder)), looked(folder))
    assert [one.field for one in found] == (["model_folder"] if words else [])
    assert all(words in str(one.reason) for one in found)


def test_the_place_of_a_spec() -> None:
    assert place_of(SPEC) == Place("A2", "0.23.0", container=True)
    assert not place_of(replace(SPEC, backend="ascend_venv")).container
    assert place_of(replace(SPEC, backend="local_cpu")).family == ""
