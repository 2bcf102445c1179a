"""For each host the stacks that fit, best first, what they need, and the first reason against the others."""

from typing import Any

import pytest

from console.catalog.ascend import Fit, order
from console.plans.needs import NOT_KNOWN, DriverState
from console.plans.refusals import Route
from console.plans.resolve import in_language
from console.text import render
from tests.plans.resolving import KNOWN, names, on, reasons, stack

DOCKER, VENV = Route.DOCKER, Route.VENV
SOURCE = {(one, "venv"): "source_only" for one in ("0.30.0rc2", "0.23.0.post1", "0.7.3.post1", "0.7.3")}


def test_the_reference_host_runs_the_newest_stable_release() -> None:
    found = on()
    assert [(one.release.vllm_ascend, str(one.route)) for one in found.stacks[:3]] == [
        ("0.23.0.post1", "docker"),
        ("0.23.0", "docker"),
        ("0.23.0", "venv"),
    ]
    assert [one.rank for one in found.stacks] == list(range(1, len(found.stacks) + 1))
    assert found.stacks[-1].release.vllm_ascend == "0.30.0rc2"
    assert reasons(found) == SOURCE


def test_the_best_venv_is_the_newest_release_with_wheels() -> None:
    best = on(VENV).stacks[0]
    assert best.plain() | {"fetch": 0, "steps_needed": 0, "notes": 0, "source": 0} == {
        "vllm_ascend": "0.23.0",
        "vllm": "0.23.0",
        "cann": "9.1.0",
        "torch": "2.10.0",
        "torch_npu": "2.10.0.post4",
        "triton_ascend": "3.2.2",
        "python": "3.11",
        "route": "venv",
        "image": None,
        "stable": True,
        "rank": 1,
        "driver": "fits",
        "driver_minimum": "25.2",
        "packages": [
            "Ascend-cann-toolkit_9.1.0_linux-aarch64.run",
            "Ascend-cann-910b-ops_9.1.0_linux-aarch64.run",
            "Ascend-cann-nnal_9.1.0_linux-aarch64.run",
            "vllm-0.23.0.tar.gz",
            "vllm_ascend-0.23.0-cp311-cp311-manylinux_2_34_aarch64.whl",
            "torch-2.10.0-cp311-cp311-manylinux_2_28_aarch64.whl",
            "torch_npu-2.10.0.post4-cp311-cp311-manylinux_2_28_aarch64.whl",
            "triton-ascend==3.2.2",
            "torchvision==0.25.0",
            "torchaudio==2.10.0",
            "transformers==5.5.4",
            "arctic-inference==0.1.1",
        ],
        "fetch": 0,
        "steps_needed": 0,
        "notes": 0,
        "source": 0,
    }
    assert [one.code for one in best.steps] == ["cann", "vllm", "packages", "vendor_index"]
    said = " ".join(in_language(note, "en") for note in best.notes)
    for words in (
        "exactly vLLM 0.23.0",
        "--no-deps",
        "torch and torchaudio 2.10.0",
        "since no released pair",
        "2026-12-02",
    ):
        assert words in said


@pytest.mark.parametrize(
    ("driver", "best", "state"),
    [
        (None, "0.23.0.post1", DriverState.INSTALL),
        ("25.5.1", "0.23.0.post1", DriverState.FITS),
        ("25.2.0", "0.23.0.post1", DriverState.FITS),
        ("26.0.rc1", "0.23.0.post1", DriverState.FITS),
        ("25.0.rc1.1", "0.18.0", DriverState.FITS),
        ("24.1.rc2", "0.7.3.post1", DriverState.FITS),
        ("24.1.1", "0.7.3.post1", DriverState.FITS),
        ("22.0.4.1", "0.23.0.post1", DriverState.UPGRADE),
        ("27.1.0", "0.23.0.post1", DriverState.UNLISTED),
    ],
)
def test_what_fits_without_changing_the_driver_comes_first(driver: str | None, best: str, state: DriverState) -> None:
    found = on(driver=driver).stacks
    assert (found[0].release.vllm_ascend, found[0].driver.state) == (best, state)
    changes = [one.driver.state in (DriverState.UPGRADE, DriverState.INSTALL) for one in found if one.release.stable]
    assert changes == sorted(changes)
    assert [one.release.stable for one in found] == sorted((one.release.stable for one in found), reverse=True)


def test_a_first_installation_begins_with_the_driver() -> None:
    best = on(driver=None).stacks[0]
    assert names(best)[:2] == [
        "Ascend-hdk-910b-npu-driver_25.5.1_linux-aarch64.run",
        "Ascend-hdk-910b-npu-firmware_7.8.0.6.201.run",
    ]
    assert best.steps[0].code == "driver_install"
    assert all(one.login and one.address is None for one in best.packages[:2])


def test_an_upgrade_begins_with_the_firmware_and_names_what_to_fetch() -> None:
    one = stack(on(driver="25.0.rc1.1", arch="x86_64"), "0.23.0", VENV)
    assert names(one)[:2] == [
        "Ascend-hdk-910b-npu-firmware_7.8.0.6.201.run",
        "Ascend-hdk-910b-npu-driver_25.5.1_linux-x86-64.run",
    ]
    assert one.steps[0].code == "driver_upgrade"
    assert "at least 25.2 is needed" in render(one.steps[0].text, "en")


def test_a_firmware_that_is_there_is_not_fetched_again() -> None:
    one = stack(on(driver="25.0.rc1.1", firmware="7.8.0.6.201"), "0.23.0", VENV)
    assert names(one)[0] == "Ascend-hdk-910b-npu-driver_25.5.1_linux-aarch64.run"


def test_a_driver_that_holds_newer_releases_back_is_told() -> None:
    notes = [in_language(note, "en") for note in on(driver="24.1.rc2").stacks[0].notes]
    assert "npu-driver_25.5.1_linux-aarch64.run" in notes[0]
    assert "vllm-ascend 0.23.0.post1 fits" in notes[0]
    assert not any("holds newer releases back" in in_language(note, "en") for note in on().stacks[0].notes)


def test_a_cann_that_no_table_covers_is_judged_by_the_release_before_it() -> None:
    assert stack(on(driver="25.2.0"), "0.11.0", VENV).driver.state is DriverState.UNLISTED
    old = stack(on(driver="24.1.rc2"), "0.11.0", VENV)
    assert old.driver.state is DriverState.UPGRADE
    assert f"Ascend-hdk-910b-npu-driver_{NOT_KNOWN}_linux-aarch64.run" in names(old)


def test_the_candidate_wants_the_driver_its_notes_name() -> None:
    one = stack(on(driver="25.5.1"), "0.30.0rc2", DOCKER)
    assert (one.driver.state, one.driver.least) == (DriverState.UPGRADE, "25.7.RC1")
    for driver in ("25.7.rc1", "26.0.rc1"):
        assert stack(on(driver=driver), "0.30.0rc2", DOCKER).driver.state is DriverState.FITS
    assert "pre-release" in in_language(one.notes[0], "en")


@pytest.mark.parametrize(
    ("chip", "system", "tag"),
    [
        ("910B4", "ubuntu-22.04", "v0.23.0.post1"),
        ("910B3", "openeuler-24.03", "v0.23.0.post1-openeuler"),
        ("910B3", "kylin-v10", "v0.23.0.post1-openeuler"),
        ("Ascend910", "ubuntu-22.04", "v0.23.0.post1-a3"),
        ("Ascend910", "openeuler-22.03", "v0.23.0.post1-a3-openeuler"),
        ("310P3", "ubuntu-24.04", "v0.23.0.post1-310p"),
        ("Ascend950DT", "ubuntu-22.04", "v0.23.0.post1-a5"),
    ],
)
def test_the_image_follows_chip_and_system(chip: str, system: str, tag: str) -> None:
    one = on(DOCKER, chip=chip, system=system).stacks[0]
    assert one.image == f"quay.io/ascend/vllm-ascend:{tag}"
    assert names(one) == [one.image]
    assert one.python == "3.12"


@pytest.mark.parametrize(
    ("changes", "route", "words"),
    [
        ({"chip": "Ascend910"}, DOCKER, "two dies"),
        ({"arch": "x86_64"}, VENV, "+cpu build of torch"),
        ({"driver": None}, VENV, "driver comes first"),
        ({"driver": "25.0.0"}, VENV, "order is reversed"),
        ({"driver": "25.0.0"}, VENV, "headers of exactly this kernel"),
        ({}, VENV, "Since CANN 8.5.0 the operators"),
        ({"driver": "25.2.0"}, VENV, "25.5.1 or newer"),
        ({"driver": "27.0.0"}, VENV, "do not name this driver"),
        ({"system": "kylin-v10"}, DOCKER, "invalid tar header"),
        ({"chip": "310P3"}, DOCKER, "FP16 only"),
        ({"chip": "Ascend950"}, DOCKER, "950dt"),
        ({"system": "ubuntu-24.04"}, VENV, "no list of drivers"),
    ],
)
def test_a_trap_is_told_where_it_lies(changes: dict[str, Any], route: Route, words: str) -> None:
    def said(**other: Any) -> str:
        one = stack(on(route, **other), "0.23.0", route)
        return " ".join(in_language(note, "en") for note in one.notes)

    assert words in said(**changes)
    if changes:
        assert words not in said()


def test_old_names_of_packages_are_used_before_cann_8_5() -> None:
    one = stack(on(VENV), "0.11.0", VENV)
    assert names(one)[:3] == [
        "Ascend-cann-toolkit_8.3.RC2_linux-aarch64.run",
        "Ascend-cann-kernels-910b_8.3.RC2_linux-aarch64.run",
        "Ascend-cann-nnal_8.3.RC2_linux-aarch64.run",
    ]
    assert one.packages[0].address == (
        "https://ascend-repo.obs.cn-east-2.myhuaweicloud.com/CANN/CANN%208.3.RC2/"
        "Ascend-cann-toolkit_8.3.RC2_linux-aarch64.run"
    )


def test_x86_takes_torch_from_the_cpu_index() -> None:
    one = stack(on(VENV, arch="x86_64"), "0.23.0", VENV)
    assert {package.name: package.place for package in one.packages if package.name.startswith("torch=")} == {
        "torch==2.10.0+cpu": "torch_cpu"
    }
    assert "torch_cpu_index" in [step.code for step in one.steps]


def test_both_variants_of_a_release_are_offered_the_one_from_indexes_first() -> None:
    found = [one for one in on(VENV).stacks if one.release.vllm_ascend == "0.18.0"]
    assert [one.variant.cann for one in found] == ["9.0.0", "8.5.1"]
    assert [one.code for one in found[1].steps if one.code == "by_hand"] == ["by_hand"]
    assert [one.variant.cann for one in on(VENV, arch="x86_64").stacks if one.release.vllm_ascend == "0.18.0"] == [
        "9.0.0"
    ]


def test_a_cann_that_is_there_is_not_fetched_again() -> None:
    there = stack(on(VENV, cann="9.1.0"), "0.23.0", VENV)
    assert not any(one.kind == "cann" for one in there.packages)
    beside = stack(on(VENV, cann="8.5.1"), "0.23.0", VENV)
    assert [one.code for one in beside.steps[:2]] == ["cann", "cann_beside"]


def test_without_a_python_one_is_provided() -> None:
    one = stack(on(VENV, pythons=()), "0.23.0", VENV)
    assert one.python == "3.12"
    assert "python" in [step.code for step in one.steps]
    assert stack(on(VENV, pythons=((3, 9), (3, 10), (3, 13))), "0.23.0", VENV).python == "3.10"


def test_every_bundle_to_fetch_fits_what_it_is_fetched_for() -> None:
    for one in on(driver="22.0.4.1").stacks:
        rule = KNOWN.rule(one.variant.cann)
        if one.driver.bundle is not None:
            assert rule is not None
            assert rule.fit(one.driver.bundle.driver) is Fit.FITS
            assert order(one.driver.bundle.driver) >= order(one.driver.least)
