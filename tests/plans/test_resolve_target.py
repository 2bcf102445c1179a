"""A host's facts become what versions are chosen by; what it did not tell stays unknown and is named."""

import pytest

from console.facts.os_release import OsRelease, parse_os_release
from console.plans.target import arch_name, of_facts, same_version, system_name, unseen
from tests.checks.composed import SAMPLES, host, sample
from tests.plans.resolving import KNOWN


def test_the_composed_host_is_a_target() -> None:
    found = of_facts(host(packages="vllm==0.23.0\ntorch_npu==2.10.0.post4\nnumpy==1.26.4\n"))
    assert (found.chip, found.arch, found.system) == ("910B4", "aarch64", "openeuler-24.03")
    assert (found.driver, found.firmware, found.cann) == ("25.5.1", "7.8.0.5.216", "9.1.0")
    assert (found.glibc, found.pythons) == ((2, 38), ((3, 11),))
    assert found.parts == {"vllm": "0.23.0", "torch_npu": "2.10.0.post4"}
    assert found.kernel.startswith("6.6.0")
    assert unseen(host()) == {}


def test_without_a_driver_the_bus_tells_the_kind_of_chip() -> None:
    found = of_facts(host(npu_tool="absent", driver_version="absent"))
    assert found.driver is None
    chip = KNOWN.called(found.chip)
    assert chip is not None
    assert chip.family == "A2"


@pytest.mark.parametrize(
    ("device", "family", "supported"),
    [("d803", "A3", True), ("d500", "310P", True), ("d801", "first", False), ("d100", "edge", False)],
)
def test_every_device_of_the_bus_is_a_known_chip(device: str, family: str, supported: bool) -> None:
    found = of_facts(host(npu_tool="absent", npu_pci=f"0000:c1:00.0 0x19e5 0x{device} 0x120000\n"))
    chip = KNOWN.called(found.chip)
    assert chip is not None
    assert (chip.family, chip.supported) == (family, supported)


def test_the_version_file_counts_where_npu_smi_is_silent() -> None:
    silent = host(npu_tool="dcmi module initialize failed. ret is -8005\n")
    assert of_facts(silent).driver == "25.5.1"


def test_what_was_not_observed_is_named() -> None:
    lost = host(npu_tool="timeout", libc="", driver_version="timeout")
    assert set(unseen(lost)) == {"npu_tool", "libc", "driver_version"}
    assert of_facts(lost).driver is None
    assert of_facts(lost).glibc is None


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("os_release_*.txt")), ids=lambda path: path.stem)
def test_systems_of_real_hosts_are_in_the_catalog(path: object) -> None:
    name = getattr(path, "stem", "")
    assert system_name(parse_os_release(sample(name))) in KNOWN.systems


def test_a_system_without_a_name_has_none() -> None:
    assert system_name(OsRelease(None, None, "x", None, None, None, None, None)) == ""
    assert system_name(None) == ""


@pytest.mark.parametrize(("given", "name"), [("arm64", "aarch64"), ("AMD64", "x86_64"), ("riscv64", "riscv64")])
def test_architectures_have_one_name(given: str, name: str) -> None:
    assert arch_name(given) == name


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2.10.0+cpu", "2.10.0", True),
        ("v0.23.0", "0.23.0+empty", True),
        ("8.3.rc2", "8.3.RC2", True),
        ("2.9.0.post1+git4c901a4", "2.9.0.post1", False),
        ("2.10.0", "2.10.0.post4", False),
    ],
)
def test_a_local_part_of_a_build_does_not_make_another_release(one: str, other: str, same: bool) -> None:
    assert same_version(one, other) is same
