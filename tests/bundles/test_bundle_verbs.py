"""`pilot bundle build` and `verify` as a script runs them, on an index, a vendor's server and a docker of our own."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from console.__main__ import main
from tests.bundles.test_build import DRIVER, package
from tests.bundles.test_vllm_wheel import source
from tests.bundles.web import Web, below, wheel

HOST = ("--chip", "910B4", "--os", "ubuntu-22.04", "--arch", "aarch64", "--python", "3.11")
PINNED = "\n".join(
    ("torch==2.8.0", "torch-npu==2.8.0.post2", "triton-ascend==3.2.0", "vllm-ascend==0.13.0", "vllm==0.13.0+empty",
     "thing==1")
)  # fmt: skip
Pilot = Callable[..., tuple[int, Any, str]]


@pytest.fixture(autouse=True)
def catalog(data: Path, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vendor's address, changed by the user's own catalog."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    (data / "catalog").mkdir(parents=True)
    (data / "catalog" / "own.yaml").write_text(
        "version: 1\nas_of: '2026-12-02'\nplaces:\n"
        f"  - {{id: cann, address: '{web.url('/CANN/{folder}/{file}')}', source: our own server}}\n"
    )


@pytest.fixture
def pilot(capsys: pytest.CaptureFixture[str]) -> Pilot:
    def run(*words: object) -> tuple[int, Any, str]:
        code = main(["bundle", *map(str, words)])
        out, err = capsys.readouterr()
        return code, json.loads(out) if "--json" in words and out else out, err

    return run


def test_a_venv_bundle_from_nothing_to_complete(pilot: Pilot, web: Web, tmp_path: Path) -> None:
    tag = "cp311-cp311-manylinux_2_28_aarch64"
    for name, version in (("torch", "2.8.0"), ("torch_npu", "2.8.0.post2"), ("triton_ascend", "3.2.0")):
        web.index(name.replace("_", "-"), wheel(name, version, tag))
    web.index("vllm-ascend", wheel("vllm_ascend", "0.13.0", "cp311-cp311-manylinux_2_24_aarch64"))
    web.index("thing", wheel("thing", "1"))
    folder, listed = tmp_path / "包", tmp_path / "list.txt"
    listed.write_text(PINNED)
    (folder / "wheels").mkdir(parents=True)
    built = wheel("vllm", "0.13.0+empty")
    (folder / "wheels" / built[0]).write_bytes(built[1])
    words = ("build", "--stack", "0.13.0", *HOST, "--route", "venv", "--mirror", web.url("/simple"),
             "--list", listed, folder, "--json")  # fmt: skip
    code, told, _ = pilot(*words)
    assert code == 1
    wanted = {one["path"]: one["kind"] for one in told["missing"]}
    kinds = list(wanted.values())
    assert [kinds.count(kind) for kind in ("driver", "firmware", "cann", "wheel")] == [1, 1, 3, 0]
    assert {one["path"] for one in told["files"]} == {f"wheels/{one.name}" for one in (folder / "wheels").iterdir()}
    cann = told["for"]["cann"]
    for name, kind in wanted.items():
        how = ("toolkit", cann, "x") if kind == "cann" else (kind, "1", "910b")
        made = package(tmp_path / "made", name, *how)
        if kind == "cann":
            web.files[f"/CANN/{cann}/{name}"] = made.read_bytes()
        else:
            shutil.copy(made, folder / name)
    code, told, _ = pilot(*words)
    assert (code, told["missing"]) == (0, [])
    assert web.seen[-1]["Referer"] == "https://www.hiascend.com/"
    assert below(folder) == sorted(["manifest.json", *(one["path"] for one in told["files"])])
    assert pilot("verify", folder, "--json") == (0, {"ok": True, "findings": []}, "")
    (folder / built[0].join(["wheels/", ""])).write_bytes(b"")
    code, told, _ = pilot("verify", folder, "--json")
    assert (code, [(one["path"], one["trouble"]) for one in told["findings"]]) == (
        1,
        [(f"wheels/{built[0]}", "damaged")],
    )


def test_without_a_list_only_the_pins_come_and_that_is_told(pilot: Pilot, web: Web, tmp_path: Path) -> None:
    web.index("vllm", ("vllm-0.18.0.tar.gz", source(tmp_path / "s").read_bytes()))
    code, told, _ = pilot(
        "build", "--stack", "0.18.0", *HOST, "--route", "venv", "--mirror", web.url("/simple"), tmp_path / "b", "--json"
    )
    why = {one["path"]: one["why"] for one in told["missing"]}
    assert code == 1
    assert "no complete list of packages" in why["wheels/"]


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """A docker that pulls, describes and saves; what it was told stands in the file that is returned."""

    def one(arch: str) -> Path:
        place, log = tmp_path / "bin", tmp_path / "docker.log"
        place.mkdir(exist_ok=True)
        (place / "docker").write_text(
            f"""#!/bin/sh
echo "$*" >>'{log}'
case $1 in
  pull) [ {arch} != none ] || {{ echo 'Cannot connect to the Docker daemon' >&2; exit 1; }} ;;
  image) echo '[{{"Id": "sha256:1", "RepoDigests": ["quay.io/x@sha256:abc"], "Architecture": "{arch}"}}]' ;;
  save) echo archive >"$3" ;;
esac
"""
        )
        (place / "docker").chmod(0o755)
        monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
        return log

    return one


def test_an_image_is_saved_for_the_architecture_of_the_host(
    pilot: Pilot, docker: Callable[[str], Path], tmp_path: Path
) -> None:
    log, folder = docker("arm64"), tmp_path / "b"
    package(folder, DRIVER, "driver", "25.5.1", "910b")
    words = ("build", "--stack", "0.23.0", *HOST, "--route", "docker", "--driver", "25.5.1", folder, "--json")
    code, told, err = pilot(*words)
    assert (code, err) == (0, "")
    image = told["files"][0]
    assert (image["path"], image["kind"]) == ("images/vllm-ascend-aarch64-v0.23.0.tar", "image")
    assert image["source"] == "docker save quay.io/ascend/vllm-ascend:v0.23.0 (quay.io/x@sha256:abc)"
    assert "pull -q --platform linux/arm64 quay.io/ascend/vllm-ascend:v0.23.0" in log.read_text()
    assert (folder / "images/vllm-ascend-aarch64-v0.23.0.tar").read_text() == "archive\n"
    log.unlink()
    assert pilot(*words)[0] == 0
    assert not log.exists()


@pytest.mark.parametrize(("arch", "said"), [("none", "Cannot connect to the Docker daemon"), ("amd64", "for x86_64")])
def test_an_image_that_cannot_be_saved_here_says_how_elsewhere(
    pilot: Pilot, docker: Callable[[str], Path], tmp_path: Path, arch: str, said: str
) -> None:
    docker(arch)
    code, told, _ = pilot(
        "build", "--stack", "0.23.0", *HOST, "--route", "docker", "--driver", "25.5.1", tmp_path / "b", "--json"
    )
    assert code == 1
    assert told["missing"][0]["path"] == "images/vllm-ascend-aarch64-v0.23.0.tar"
    assert said in told["missing"][0]["why"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("--stack", "9.9.9"), "There is no release 9.9.9"),
        (("--stack", "0.23.0.post1", "--route", "venv"), "0.23.0.post1 does not go there"),
        (("--chip", "H100"), "does not go there"),
        (("--list", "/nowhere/list.txt", "--route", "venv"), "cannot be read"),
        (("--weights", "/nowhere"), "is no folder"),
    ],
)
def test_what_cannot_be_built_says_why(pilot: Pilot, tmp_path: Path, change: tuple[str, ...], said: str) -> None:
    words = ["build", "--stack", "0.23.0", *HOST, "--route", "docker", "--driver", "25.5.1", *change, tmp_path / "b"]
    code, _, err = pilot(*words)
    assert code == 2
    assert said in err


def test_the_reason_is_in_the_language_of_the_terminal(
    pilot: Pilot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    code, _, err = pilot("build", "--stack", "0.23.0.post1", *HOST, "--route", "venv", tmp_path / "b")
    assert code == 2
    assert "源码" in err
    assert "source archive" not in err


def test_words_for_people(pilot: Pilot, docker: Callable[[str], Path], tmp_path: Path) -> None:
    docker("none")
    code, told, _ = pilot("build", "--stack", "0.23.0", *HOST, "--route", "docker", tmp_path / "b")
    assert code == 1
    assert "to bring" in told
    assert "Ascend-hdk-910b-npu-driver" in told
    assert "To bring: 3. Put each just there" in told
    code, told, _ = pilot("verify", tmp_path / "b")
    assert (code, told.count("to bring  ")) == (1, 3)
    package(tmp_path / "b", DRIVER, "driver", "25.5.1", "910b")
    code, told, _ = pilot("take", tmp_path / "b")
    assert (code, told.startswith("Taken in: 1\n"), told.count("to bring  ")) == (1, True, 2)
    assert pilot("take", tmp_path)[0] == 2
    assert pilot("verify", tmp_path)[0] == 2
    assert "is no folder" in pilot("verify", tmp_path / "nowhere")[2]
