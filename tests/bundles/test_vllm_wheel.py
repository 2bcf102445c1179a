"""vLLM built for no device from a tiny source archive whose build asks what the real one asks."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from console.bundles import vllm_wheel
from console.errors import HostError, InvalidInput
from tests.bundles.web import below

SETUP = """
import os
import torch
from setuptools import setup
from torch.utils.cpp_extension import CUDA_HOME, ROCM_HOME
assert os.environ["VLLM_TARGET_DEVICE"] == "empty"
assert torch.version.hip is None and CUDA_HOME is None
setup(name="vllm", version=os.environ["SETUPTOOLS_SCM_PRETEND_VERSION"] + "+empty", packages=["vllm"],
      options={"bdist_wheel": {"plat_name": "linux-x86_64"}}, package_data={"vllm": ["*.so"]})
"""


def source(path: Path, **files: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    archive = path / "vllm-0.1.2.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        for name, content in {"setup.py": SETUP, "vllm/__init__.py": "", **files}.items():
            member = tarfile.TarInfo(f"vllm-0.1.2/{name}")
            member.size = len(content.encode())
            packed.addfile(member, io.BytesIO(content.encode()))
    return archive


def test_vllm_is_built_for_no_device_and_every_machine(tmp_path: Path) -> None:
    made = vllm_wheel.build(source(tmp_path / "a b"), "0.1.2", tmp_path / "包", tools=["setuptools", "wheel"])
    assert made.name == "vllm-0.1.2+empty-py3-none-any.whl"
    assert below(tmp_path / "包") == [made.name]
    with zipfile.ZipFile(made) as packed:
        assert "Tag: py3-none-any" in packed.read("vllm-0.1.2+empty.dist-info/WHEEL").decode()
        recorded = {line.split(",")[0] for line in packed.read("vllm-0.1.2+empty.dist-info/RECORD").decode().split()}
        assert recorded == set(packed.namelist())


def test_a_compiled_part_is_refused(tmp_path: Path) -> None:
    archive = source(tmp_path / "a", **{"vllm/_C.so": "x"})
    with pytest.raises(InvalidInput, match=r"has a compiled part \(vllm/_C\.so\)"):
        vllm_wheel.build(archive, "0.1.2", tmp_path / "to", tools=["setuptools", "wheel"])
    assert not (tmp_path / "to").exists()


def test_a_build_that_fails_says_why(tmp_path: Path) -> None:
    archive = source(tmp_path / "a", **{"setup.py": "raise SystemExit('no such thing as a build')"})
    with pytest.raises(HostError, match="no such thing as a build"):
        vllm_wheel.build(archive, "0.1.2", tmp_path / "to", tools=["setuptools", "wheel"])
