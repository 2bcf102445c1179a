"""`pilot resolve` and `pilot catalog check` as a script runs them: words, JSON and exit codes."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from console import records
from console.__main__ import main
from console.facts.probe import Raw
from console.hosts import inventory, kept
from console.hosts.reach import Reach
from console.settings import DATA_VARIABLE, settings
from tests.checks.composed import HOST as ANSWERS

HOST = ("--chip", "910B4", "--driver", "25.5.1", "--os", "ubuntu-22.04", "--arch", "aarch64", "--python", "3.11")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    settings.cache_clear()
    records.engine.cache_clear()
    yield tmp_path / "data"
    if records.engine.cache_info().currsize:
        records.engine().dispose()
    settings.cache_clear()
    records.engine.cache_clear()


def pilot(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["resolve", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_reference_host_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = pilot([*HOST, "--json"], capsys)
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["host"]["chip"] == "910B4"
    best = found["stacks"][0]
    assert (best["vllm_ascend"], best["vllm"], best["cann"], best["route"]) == (
        "0.23.0.post1",
        "0.23.0",
        "9.1.0",
        "docker",
    )
    assert set(best) >= {"torch", "torch_npu", "triton_ascend", "python", "image", "packages", "notes", "steps_needed"}
    assert {(one["vllm_ascend"], one["route"], one["code"]) for one in found["refused"]} >= {
        ("0.23.0.post1", "venv", "source_only")
    }
    assert all(one["reason"] for one in found["refused"])


def test_only_one_route(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = pilot([*HOST, "--route", "venv", "--json"], capsys)
    found = json.loads(out)
    assert code == 0
    assert {one["route"] for one in found["stacks"] + found["refused"]} == {"venv"}
    assert found["stacks"][0]["vllm_ascend"] == "0.23.0"


def test_one_release_alone_is_told_with_its_packages(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = pilot([*HOST, "--stack", "v0.18.0", "--route", "venv"], capsys)
    assert code == 0
    assert "Ascend-cann-toolkit_9.0.0_linux-aarch64.run" in out
    assert "0.23.0" not in out
    code, out, _ = pilot([*HOST, "--stack", "0.23.0.post1", "--json"], capsys)
    found = json.loads(out)
    assert {(one["vllm_ascend"], one["route"]) for one in found["stacks"]} == {("0.23.0.post1", "docker")}
    assert {(one["vllm_ascend"], one["route"]) for one in found["refused"]} == {("0.23.0.post1", "venv")}
    code, _, err = pilot([*HOST, "--stack", "9.9"], capsys)
    assert (code, "installs no release '9.9'" in err, "0.23.0.post1" in err) == (2, True, True)


def test_words_for_people(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = pilot([*HOST, "--route", "venv"], capsys)
    assert code == 0
    for words in (
        "0.23.0",
        "Ascend-cann-910b-ops_9.1.0_linux-aarch64.run",
        "VLLM_TARGET_DEVICE=empty",
        "source archive",
    ):
        assert words in out
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    code, out, _ = pilot([*HOST, "--route", "venv"], capsys)
    assert code == 0
    assert "源码" in out


@pytest.mark.parametrize(
    ("changes", "code", "reason"),
    [
        ({"--chip": "910B"}, 1, "chip_unsupported"),
        ({"--python": "3.13", "--route": "venv"}, 1, "python"),
        ({"--os": "kylin-v10", "--route": "venv"}, 1, "containers_only"),
        ({"--glibc": "2.17", "--route": "venv"}, 0, "glibc"),
        ({"--arch": "riscv64"}, 2, "arch_unsupported"),
        ({"--os": "plan9-4"}, 2, "os_unknown"),
        ({"--chip": "H100"}, 2, "chip_unknown"),
    ],
)
def test_what_does_not_fit_is_explained(
    changes: dict[str, str], code: int, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = dict(zip(HOST[::2], HOST[1::2], strict=True)) | changes
    done, out, err = pilot([part for pair in words.items() for part in pair] + ["--json"], capsys)
    found = json.loads(out)
    assert done == code
    assert reason in {one["code"] for one in found["refused"]}
    assert ("Accepted are" in err) == (code == 2)
    assert found.get("error", "") in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--driver", "new"], "--driver new"),
        (["--python", "three"], "--python three"),
        (["--python", "9.9"], "--python 9.9"),
        (["--cann", "$(reboot)"], "--cann"),
        (["--glibc", "2"], "--glibc 2"),
        (["--firmware", "7.x"], "--firmware"),
        (["--host", "nowhere"], "nowhere"),
        (["--host", "local"], "pilot check local"),
    ],
)
def test_wrong_input_ends_with_2_and_a_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = pilot([*HOST, *words], capsys)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize("words", [[], ["--chip", "910B4"], ["--why-not", "hello"]])
def test_too_little_is_wrong_input(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert pilot(words, capsys)[0] == 2


@pytest.mark.parametrize(
    ("given", "system"),
    [("Ubuntu-22.04", "ubuntu-22.04"), ("kylin-v10-sp3", "kylin-v10"), ("openEuler-22.03-LTS-SP4", "openeuler-22.03"),
     ("ubuntu-22.04.5", "ubuntu-22.04"), (" Ubuntu 22.04 ", "ubuntu-22.04")],
)  # fmt: skip
def test_the_system_is_taken_without_its_point_release(
    given: str, system: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = pilot(["--chip", "910b4", "--os", given, "--arch", "arm64", "--json"], capsys)
    found = json.loads(out)
    assert code == 0
    assert (found["host"]["os"], found["host"]["arch"]) == (system, "aarch64")
    assert found["stacks"][0]["driver"] == "install"


def test_one_reason_against_everything_is_said_without_a_list_of_releases(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = pilot(["--chip", "910B4", "--os", "kylin-v10", "--arch", "x86_64"], capsys)
    assert code == 1
    assert out.splitlines() == ["✗ Kylin V10 stands on the lists for aarch64 only.", "No release fits this host."]


def test_a_release_that_is_refused_by_both_ways_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = pilot(["--chip", "A3", "--os", "openeuler-24.03", "--arch", "aarch64"], capsys)
    assert code == 0
    assert "✗ 0.9.1 (docker, venv): " in out


def test_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = pilot(["--why-not", "CANN 6.3.0 + vLLM 0.3.1", "--json"], capsys)
    answer = json.loads(out)["why_not"]
    assert (code, err) == (0, "")
    assert answer["understood"] == {"cann": "6.3.0", "vllm": "0.3.1"}
    assert answer["answers"][0]["code"] == "cann-6-with-vllm-0.3"
    code, out, _ = pilot(["--why-not", "CANN 6.3.0 + vLLM 0.3.1"], capsys)
    assert code == 0
    for words in ("False", "0.7.1rc1", "Source", "0.23.0.post1"):
        assert words in out


def test_why_not_beside_a_host(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = pilot([*HOST, "--why-not", "CANN 6.3.0 + vLLM 0.3.1", "--json"], capsys)
    found = json.loads(out)
    assert code == 0
    assert set(found) == {"host", "stacks", "refused", "why_not"}


def test_the_catalog_is_checked(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    assert main(["catalog", "check", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"]
    assert found["faults"] == []
    assert found["entries"]["releases"] == 9
    folder = Path(found["own_folder"])
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("as_of: '2026-12-02'\ncann:\n  - {cann: 9.1.0, folder: 5, source: us}\n")
    assert main(["catalog", "check", "--json"]) == 1
    fault = json.loads(capsys.readouterr().out)["faults"][0]
    assert (fault["file"], fault["entry"], fault["field"]) == ("mine.yaml", "cann 9.1.0", "folder")
    assert main(["catalog", "check"]) == 1
    assert "mine.yaml / cann 9.1.0 / folder: Wanted: words." in capsys.readouterr().out
    code, out, err = pilot(HOST, capsys)
    assert (code, out) == (2, "")
    assert "mine.yaml" in err


def test_an_address_of_the_user_reaches_the_stack(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    folder = data / "catalog"
    folder.mkdir(parents=True)
    text = "as_of: '2026-12-02'\ncann:\n  - {cann: 9.1.0, folder: 9.1.0, source: our own mirror}\n"
    (folder / "mine.yaml").write_text(
        text + "places:\n  - {id: cann, address: 'http://mirror/{folder}/{file}', source: us}\n"
    )
    _, out, _ = pilot([*HOST, "--route", "venv", "--json"], capsys)
    fetch = json.loads(out)["stacks"][0]["fetch"]
    assert fetch[0]["address"] == "http://mirror/9.1.0/Ascend-cann-toolkit_9.1.0_linux-aarch64.run"


def answered(name: str, **changes: str) -> None:
    """A host of the inventory that has just answered so."""
    host = inventory.add_host(name, Reach("10.0.0.5"), actor="me")
    texts = {**ANSWERS, **changes}
    kept.keep(host.id, [Raw(one, text, 0, 0.1) for one, text in texts.items()], 0.0, actor="me")


def test_a_host_of_the_inventory_is_taken_as_it_answered(capsys: pytest.CaptureFixture[str]) -> None:
    answered("npu-1")
    code, out, err = pilot(["--host", "npu-1", "--route", "venv", "--json"], capsys)
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["host"]["chip"], found["host"]["os"], found["host"]["driver"]) == (
        "910B4",
        "openeuler-24.03",
        "25.5.1",
    )
    assert found["unseen"] == {}
    assert not any("cann-toolkit" in one for one in found["stacks"][0]["packages"]), "CANN 9.1.0 is there already"
    _, out, _ = pilot(["--host", "npu-1", "--driver", "24.1.rc2", "--json"], capsys)
    assert json.loads(out)["stacks"][0]["vllm_ascend"] == "0.7.3.post1"


def test_what_a_host_did_not_tell_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    answered("npu-2", npu_tool="absent", npu_pci="", driver_version="absent", libc="nonsense")
    code, out, err = pilot(["--host", "npu-2", "--json"], capsys)
    found = json.loads(out)
    assert code == 1
    assert {one["code"] for one in found["refused"]} == {"chip_unknown"}
    assert set(found["unseen"]) == {"libc"}
    assert "Not known of this host: libc" in err


@pytest.mark.parametrize("driver", ["v25.5.1", " 25.5.1 ", "V25.5.1"])
def test_a_version_as_people_write_it(driver: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = pilot([*HOST, "--driver", driver, "--json"], capsys)
    assert (code, json.loads(out)["host"]["driver"]) == (0, "25.5.1")


def test_a_flag_may_be_what_is_asked_about(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = pilot(["--why-not", "--async_engine", "--json"], capsys)
    assert code == 0
    assert json.loads(out)["why_not"]
    with pytest.raises(SystemExit):
        pilot(["--why-not", "--json"], capsys)
