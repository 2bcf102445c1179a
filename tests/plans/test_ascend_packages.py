"""What lies in the folder of packages of a host is looked at before anything is changed there."""

import json
import os
from pathlib import Path

import pytest

from console.plans import ascend
from console.plans.ascend import Options
from console.plans.refusals import Route
from tests.plans.resolving import KNOWN
from tests.plans.shells import run
from tests.plans.test_ascend_plans import BARE, best, pinned


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["thing-1-cp311-cp311-manylinux_2_28_aarch64.whl", "pure-1-py3-none-any.whl"], ""),
        (["thing-1-cp39-abi3-manylinux_2_17_aarch64.whl", "old-1-py2.py3-none-any.whl", "a-1-py310-none-any.whl"], ""),
        (["thing-1-cp312-cp312-linux_aarch64.whl", "thing-1-cp311-cp311-linux_aarch64.whl"], ""),
        ([], ""),
        (["thing-1-cp312-cp312-manylinux_2_28_aarch64.whl", "pure-1-py3-none-any.whl"], "such as thing-1-cp312"),
        (["thing-1-cp312-abi3-manylinux_2_17_aarch64.whl"], "no wheel for Python 3.11 on aarch64"),
        (["thing-1-cp311-cp311-manylinux_2_28_x86_64.whl"], "no wheel for Python 3.11 on aarch64"),
        (["a-1-py312-none-any.whl", "b-1-cp312-cp312-linux_aarch64.whl"], "2 packages in "),
    ],
)
def test_wheels_of_another_python_are_told_before_anything_is_changed(
    tmp_path: Path, files: list[str], said: str
) -> None:
    """Not after driver, CANN and a restart, when pip cannot find the first of them."""
    case = ascend.Case(BARE, best(BARE, Route.VENV), Options(str(tmp_path / "a b")), KNOWN)
    wheels = Path(case.options.package_folder, "wheels")
    wheels.mkdir(parents=True)
    for name in files:
        (wheels / name).write_bytes(b"x")
    ended = run(ascend.packages_step(case, [], python="3.11").script, tmp_path / "run")
    assert (ended.returncode, said in ended.stderr) == (1 if said else 0, True)
    assert run(ascend.packages_step(case, []).script, tmp_path / "run").returncode == 0


@pytest.mark.parametrize(
    ("file", "fits"),
    [
        ("vllm-ascend-aarch64-v0.23.0.tar", True),
        ("v0.23.0.tar.gz", True),
        ("vllm-ascend-x86_64-v0.23.0.tar", False),
        ("vllm-ascend-aarch64-v0.23.0.tar.part", False),
        ("vllm-ascend-aarch64-v0.18.0.tar", False),
    ],
)
def test_the_archive_of_the_image_must_be_there_before_anything_is_changed(
    tmp_path: Path, file: str, *, fits: bool
) -> None:
    case = ascend.Case(BARE, best(BARE, Route.DOCKER), Options(str(tmp_path / "a b")), KNOWN)
    images = Path(case.options.package_folder, "images")
    images.mkdir(parents=True)
    (images / file).write_bytes(b"x")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "docker").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bin" / "docker").chmod(0o755)
    step = ascend.packages_step(case, [], image="quay.io/ascend/vllm-ascend:v0.23.0")
    ended = run(step.script, tmp_path / "run", PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert ended.returncode == (0 if fits else 1)
    assert fits or "no archive of the image quay.io/ascend/vllm-ascend:v0.23.0 for aarch64" in ended.stderr


def test_what_an_earlier_bundle_left_in_the_folder_is_not_part_of_the_list(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in ("scipy-1.18.1-cp312-cp312-linux_aarch64", "scipy-1.17.1-cp311-cp311-linux_aarch64",
                 "by_hand-1-py3-none-any", "odd-1-py3-none-any", "odd-2-py3-none-any"):  # fmt: skip
        (wheels / f"{name}.whl").write_bytes(b"x")
    listed = [{"path": "wheels/scipy-1.17.1-cp311-cp311-linux_aarch64.whl"}, {"path": "images/scipy-1.18.1.tar"}]
    (tmp_path / "manifest.json").write_text(json.dumps({"files": listed}))
    done = pinned(tmp_path, "list", str(wheels), "", "")
    assert (done.returncode, "scipy" in done.stderr, "odd: several versions" in done.stderr) == (1, False, True)
    (wheels / "odd-1-py3-none-any.whl").unlink()
    done = pinned(tmp_path, "list", str(wheels), "", "")
    assert (done.returncode, done.stdout.split()) == (0, ["by-hand==1", "odd==2", "scipy==1.17.1"])
    (tmp_path / "manifest.json").write_text("{")
    assert "scipy: several versions" in pinned(tmp_path, "list", str(wheels), "", "").stderr
