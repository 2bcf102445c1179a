"""Files that were brought where others were meant: each is told with what is wrong and what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from console.bundles import manifest
from console.bundles.manifest import Manifest
from console.bundles.taking import take
from console.bundles.verify import verify
from tests.bundles.test_build import DRIVER, WHY, contents, make, missing, package, troubles
from tests.bundles.web import Web, wheel

__all__ = ["make"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Ascend-hdk-310p-npu-driver_25.5.1_linux-aarch64.run", "is for chips of 310p, the host has A2"),
        ("Ascend-hdk-910b-npu-driver_25.5.1_linux-x86-64.run", "is for x86_64, the host is aarch64"),
        ("Ascend-hdk-910b-npu-driver_25.3.0_linux-aarch64.run", "is version 25.3.0; this stack takes 25.5.1"),
        (f"{DRIVER.removesuffix('.run')} (1).run", f"under another name. If so, call it just {DRIVER}"),
        ("昇腾驱动.run", "calls itself “ASCEND DRIVER RUN PACKAGE” inside. If it is the one that is wanted, call it"),
    ],
)
def test_another_file_of_the_kind_is_told(make: Callable[..., Manifest], tmp_path: Path, name: str, said: str) -> None:
    package(tmp_path / "包", name, "driver", "25.5.1", "910b")
    words = missing(make(contents(by_hand=[DRIVER])))[DRIVER]
    assert name in words
    assert said in words
    found = {one.path: str(one.text) for one in verify(tmp_path / "包")}
    assert said in found[name]


def test_every_wrong_file_is_told_not_only_the_first(make: Callable[..., Manifest], tmp_path: Path) -> None:
    for name in ("Ascend-hdk-310p-npu-driver_25.5.1_linux-aarch64.run", DRIVER.replace("25.5.1", "25.3.0")):
        package(tmp_path / "包", name, "driver", "25.5.1", "910b")
    words = missing(make(contents(by_hand=[DRIVER])))[DRIVER]
    assert words.index("is for chips of 310p") < words.index("is version 25.3.0") < words.index(str(WHY))


def test_a_wrong_wheel_in_the_place_of_one_that_is_awaited_is_told(
    web: Web, make: Callable[..., Manifest], tmp_path: Path
) -> None:
    where = tmp_path / "包" / "wheels"
    where.mkdir(parents=True)
    wrong = "triton_ascend-3.2.2-cp39-cp39-manylinux_2_27_aarch64.whl"
    (where / wrong).write_bytes(b"x")
    why = missing(make(contents("triton-ascend==3.2.2")))["wheels/triton_ascend-3.2.2-*.whl"]
    assert f"{wrong} does not fit Python 3.11" in why
    assert "No index that was asked has triton-ascend==3.2.2" in why
    assert troubles(where.parent) == {"wheels/triton_ascend-3.2.2-*.whl": "to_bring", f"wheels/{wrong}": "foreign"}
    (where / wrong.replace("39", "311")).write_bytes(b"x")
    waited = next(one for one in verify(where.parent) if one.path.endswith("-*.whl"))
    assert "is no wheel inside" in str(waited.text)


def test_a_download_that_has_not_ended_and_an_empty_file_are_told(
    make: Callable[..., Manifest], tmp_path: Path
) -> None:
    folder = tmp_path / "包"
    folder.mkdir()
    (folder / f"{DRIVER}.crdownload").write_bytes(b"x")
    make(contents(by_hand=[DRIVER]))
    assert troubles(folder) == {DRIVER: "to_bring", f"{DRIVER}.crdownload": "partial"}
    (folder / DRIVER).write_bytes(b"")
    assert missing(make(contents(by_hand=[DRIVER])))[DRIVER] == f"{DRIVER} is empty. Fetch it again."


def test_what_was_brought_is_taken_in_without_any_index(make: Callable[..., Manifest], tmp_path: Path) -> None:
    folder, firmware = tmp_path / "包", "Ascend-hdk-910b-npu-firmware_7.8.0.6.201.run"
    make(contents("triton-ascend==3.2.2", by_hand=[DRIVER, firmware]))
    assert take(folder)[1] == 0
    package(folder, DRIVER, "driver", "25.5.1", "910b")
    (folder / firmware).write_bytes(b"<html>")
    name, content = wheel("triton_ascend", "3.2.2", "cp311-cp311-linux_aarch64")
    (folder / "wheels" / name).write_bytes(content)
    whole, added = take(folder)
    assert (added, list(missing(whole))) == (2, [firmware])
    assert manifest.read(folder) == whole
    assert {one.path: one.source for one in whole.files} == {
        DRIVER: "brought by hand",
        f"wheels/{name}": "brought by hand",
    }
    assert {one.path: one.trouble for one in verify(folder)} == {firmware: "to_bring"}
    assert "is no installer but a web page" in str(verify(folder)[0].text)
    assert "`pilot bundle take` looks at it" in str(verify(folder, hashes=False)[0].text)
