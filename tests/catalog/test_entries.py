"""The catalog that comes with the console has no fault, and a fault in a user's file is named exactly."""

import os
import re
import shutil
from pathlib import Path

import pytest

from console.catalog.entries import FILES, FOLDER, read
from console.catalog.knowledge import OWN_FOLDER, faults, know, known
from console.catalog.shapes import SECTIONS
from console.errors import InvalidInput
from console.settings import DATA_VARIABLE, settings

OWN = "as_of: '2026-12-02'\n"
RELEASE = OWN + "releases:\n  - {vllm_ascend: 0.23.0, "


def own(folder: Path, text: str, name: str = "own.yaml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def told(folder: Path) -> list[tuple[str, str, str]]:
    return [(one.file, one.entry, one.field) for one in faults(read(folder))]


def test_the_catalog_has_no_fault() -> None:
    assert [str(one) for one in faults(read())] == []


def test_every_section_has_entries_with_a_source() -> None:
    tree = read()
    for name in SECTIONS:
        assert tree.entries[name], name
    assert all(len(entry.values["source"]) > 5 for entry in tree.each())


def test_an_entry_of_the_user_replaces_the_fields_it_names(tmp_path: Path) -> None:
    text = OWN + "cann:\n  - {cann: 9.1.0, folder: 9.1.0, source: our own mirror, verified: true}\n"
    folder = own(tmp_path, text)
    assert told(folder) == []
    assert know(read()).folders["9.1.0"] is None
    assert know(read(folder)).folders["9.1.0"] == "9.1.0"
    assert read(folder).entries["cann"]["9.1.0"].file == "own.yaml"
    assert know(read(folder)).folders.keys() == know(read()).folders.keys()


def test_an_entry_of_the_user_is_added(tmp_path: Path) -> None:
    line = "names: [910B5], family: A2, hbm_mb: 65536, supported: true, wheels: true, source: a host of ours"
    folder = own(tmp_path, f"{OWN}chips:\n  - {{{line}, verified: true}}\n")
    assert told(folder) == []
    chip = know(read(folder)).chip("910B5")
    assert chip is not None
    assert chip.family == "A2"
    assert know(read()).chip("910B5") is None


@pytest.mark.parametrize(
    ("text", "entry", "field"),
    [
        ("cann: [unclosed", "", ""),
        ("- a list", "", ""),
        ("cann:\n  - {cann: 9.3.0, folder: null, source: x, verified: true}\n", "", "as_of"),
        (OWN + "cans:\n  - {cann: 9.3.0}\n", "cans", ""),
        (OWN + "cann: {cann: 9.3.0}\n", "cann", ""),
        (OWN + "cann:\n  - just words\n", "cann 1", "cann"),
        (OWN + "cann:\n  - {folder: 9.3.0, source: x, verified: true}\n", "cann 1", "cann"),
        (OWN + "cann:\n  - {cann: 9.3, folder: null, source: x, verified: true}\n", "cann 1", "cann"),
        (OWN + "cann:\n  - {cann: 9.3.0, folder: null, verified: true}\n", "cann 9.3.0", "source"),
        (OWN + "cann:\n  - {cann: 9.1.0, folder: 9.1.0}\n", "cann 9.1.0", "source"),
        (OWN + "cann:\n  - {cann: 9.3.0, folder: null, source: x, verified: maybe}\n", "cann 9.3.0", "verified"),
        (OWN + "cann:\n  - {cann: 9.3.0, folder: 7, source: x, verified: true}\n", "cann 9.3.0", "folder"),
        (OWN + "cann:\n  - {cann: 9.1.0, fodler: x, source: x}\n", "cann 9.1.0", "fodler"),
        (RELEASE + "torch: 2.10, source: x}\n", "releases 0.23.0", "torch"),
        (RELEASE + "released: soon, source: x}\n", "releases 0.23.0", "released"),
        (RELEASE + "python: ['3.12'], source: x}\n", "releases 0.23.0", "python"),
        (RELEASE + "python: ['3.12', '3.10'], source: x}\n", "releases 0.23.0", "python"),
        (RELEASE + "torch: 2.77.0, source: x}\n", "releases 0.23.0", "torch"),
        (RELEASE + "chips: [A9], source: x}\n", "releases 0.23.0", "chips"),
        (RELEASE + "driver_fetch: 1.2.3, source: x}\n", "releases 0.23.0", "driver_fetch"),
        (OWN + "releases:\n  - {vllm_ascend: 0.18.0, stable: false, source: x}\n", "releases 0.18.0", "stable"),
        (
            OWN + "releases:\n  - vllm_ascend: 0.23.0\n    source: x\n"
            "    variants: [{cann: 9.9.9, torch_npu: 2.10.0.post4, triton_ascend: 3.2.2, image: true}]\n",
            "releases 0.23.0",
            "cann",
        ),
        (
            OWN + "releases:\n  - vllm_ascend: 0.23.0\n    source: x\n"
            "    variants: [{cann: 9.1.0, torch_npu: 2.10.0.post9, triton_ascend: 3.2.2, image: true}]\n",
            "releases 0.23.0",
            "torch_npu",
        ),
        (OWN + "driver_for_cann:\n  - {cann: '9.1', fetch: 25.0.rc1, source: x}\n", "driver_for_cann 9.1", "fetch"),
        (OWN + "chips:\n  - {names: [910B4], family: A7, source: x}\n", "chips 910B4", "family"),
        (OWN + "claims:\n  - {id: vllm-2, source: x, match: [{words: ['(']}]}\n", "claims vllm-2", "match"),
        (OWN + "claims:\n  - {id: vllm-2, source: x, match: [{versions: {cuda: '<8'}}]}\n", "claims vllm-2", "match"),
        (OWN + "traps:\n  - {id: two-dies, source: x, when: {weather: [rain]}}\n", "traps two-dies", "when"),
        (OWN + "systems:\n  - {id: ubuntu-22.04, source: x, routes: [docker]}\n", "systems ubuntu-22.04", "why"),
        (OWN + "systems:\n  - {id: ubuntu-22.04, source: x, why: {en: only English}}\n", "systems ubuntu-22.04", "why"),
        (
            OWN + "wheels:\n  - {package: torch, version: 2.10.0, source: x, tags: {aarch64: manylinux_2_28_x86_64}}\n",
            "wheels torch 2.10.0",
            "tags",
        ),
        (
            OWN + "cann:\n  - {cann: 9.1.0, folder: a, source: x}\n  - {cann: 9.1.0, folder: b, source: x}\n",
            "cann 9.1.0",
            "",
        ),
    ],
)  # fmt: skip
def test_a_fault_is_named_by_file_entry_and_field(tmp_path: Path, text: str, entry: str, field: str) -> None:
    assert ("own.yaml", entry, field) in told(own(tmp_path, text))


def test_bytes_that_are_no_text_are_a_fault(tmp_path: Path) -> None:
    own(tmp_path, "").joinpath("own.yaml").write_bytes(b"\xff\xfe\x00")
    assert told(tmp_path) == [("own.yaml", "", "")]


def test_a_broken_copy_of_the_catalog_itself_is_noticed(tmp_path: Path) -> None:
    for name in FILES:
        shutil.copy(FOLDER / name, tmp_path / name)
    path = tmp_path / "releases.yaml"
    path.write_text(re.sub(r"(?m)^  - \{package: torch, version: 2\.9\.0,.*\n", "", path.read_text(encoding="utf-8")))
    found = faults(read(folder=tmp_path))
    assert [(one.file, one.entry, one.field) for one in found] == [
        ("console/catalog/releases.yaml", "releases 0.18.0", "torch")
    ] * 2


def test_a_catalog_with_faults_is_refused_as_a_whole(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"own\.yaml / cans.*pilot catalog check"):
        know(read(own(tmp_path, OWN + "cans: []\n")))


def test_the_catalog_in_force_follows_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    settings.cache_clear()
    try:
        assert known().folders["9.1.0"] is None
        folder = tmp_path / OWN_FOLDER
        path = own(folder, OWN + "cann:\n  - {cann: 9.1.0, folder: one, source: x}\n") / "own.yaml"
        assert known().folders["9.1.0"] == "one"
        path.write_text(OWN + "cann:\n  - {cann: 9.1.0, folder: other, source: x}\n")
        os.utime(path, (1, 1))
        assert known().folders["9.1.0"] == "other"
        path.unlink()
        assert known().folders["9.1.0"] is None
    finally:
        monkeypatch.undo()
        settings.cache_clear()
