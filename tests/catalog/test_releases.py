"""What the catalog says of releases and packages is what the sources say."""

from datetime import date

import pytest

from console.catalog.entries import read
from console.catalog.knowledge import Knowledge, know
from console.catalog.releases import Wheel, release_order

KNOWN: Knowledge = know(read())
STABLE = ["0.23.0.post1", "0.23.0", "0.18.0", "0.13.0", "0.11.0", "0.9.1", "0.7.3.post1", "0.7.3"]


def test_every_stable_release_and_the_newest_candidate_are_offered() -> None:
    assert [one.vllm_ascend for one in KNOWN.releases] == ["0.30.0rc2", *STABLE]
    assert [one.vllm_ascend for one in KNOWN.releases if one.stable] == STABLE


@pytest.mark.parametrize(
    ("release", "vllm", "cann", "torch", "torch_npu", "triton"),
    [
        ("0.30.0rc2", "0.30.0", "9.2.0", "2.10.0", "2.10.0.post4", "3.2.2"),
        ("0.23.0.post1", "0.23.0", "9.1.0", "2.10.0", "2.10.0.post4", "3.2.2"),
        ("0.23.0", "0.23.0", "9.1.0", "2.10.0", "2.10.0.post4", "3.2.2"),
        ("0.18.0", "0.18.0", "8.5.1", "2.9.0", "2.9.0.post1+git4c901a4", "3.2.0.dev20260322"),
        ("0.13.0", "0.13.0", "8.5.0", "2.8.0", "2.8.0.post2", "3.2.0"),
        ("0.11.0", "0.11.0", "8.3.RC2", "2.7.1", "2.7.1.post1", None),
        ("0.9.1", "0.9.1", "8.2.RC1", "2.5.1", "2.5.1.post1", None),
        ("0.7.3.post1", "0.7.3", "8.1.RC1", "2.5.1", "2.5.1", None),
        ("0.7.3", "0.7.3", "8.1.RC1", "2.5.1", "2.5.1", None),
        ("0.22.1rc1", "0.22.1", "9.0.0", "2.10.0", "2.10.0", "3.2.1"),
        ("0.11.0rc0", "0.11.0rc3", "8.2.RC1", "2.7.1", "2.7.1.dev20250724", None),
        ("0.8.4rc2", "0.8.4", "8.0.0", "2.5.1", "2.5.1", None),
    ],
)
def test_the_release_table(release: str, vllm: str, cann: str, torch: str, torch_npu: str, triton: str | None) -> None:
    row = KNOWN.row(release)
    assert row is not None
    usual = row.variants[0]
    assert (row.vllm, usual.cann, row.torch, usual.torch_npu, usual.triton_ascend) == (
        (vllm,), cann, torch, torch_npu, triton,
    )  # fmt: skip


def test_one_release_goes_with_one_vllm() -> None:
    assert {row.vllm_ascend: row.vllm for row in KNOWN.rows if len(row.vllm) != 1} == {
        "0.10.1rc1": ("0.10.1", "0.10.1.1")
    }


def test_newer_releases_were_released_later() -> None:
    stable = [one for one in KNOWN.releases if one.stable and one.vllm_ascend != "0.9.1"]
    dates = [one.released for one in stable]
    assert dates == sorted(dates, reverse=True)
    assert all(date(2025, 5, 1) < one < date(2026, 12, 2) for one in dates)


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ("0.23.0rc1", "0.23.0"), ("0.23.0", "0.23.0.post1"), ("0.9.1", "0.11.0"), ("0.7.3.post1", "0.9.1"),
        ("0.30.0rc1", "0.30.0rc2"), ("2.9.0.dev20260322", "2.9.0"), ("nonsense", "0.1"), ("0.9.2rc1", "0.10.0rc1"),
    ],
)  # fmt: skip
def test_releases_are_ordered(smaller: str, larger: str) -> None:
    assert release_order(smaller) < release_order(larger)


def test_equal_releases_are_equal() -> None:
    assert release_order("0.23") == release_order("0.23.0") == release_order("v0.23.0")


@pytest.mark.parametrize(
    ("tag", "glibc"),
    [
        ("manylinux_2_34_aarch64", (2, 34)),
        ("manylinux2014_aarch64", (2, 17)),
        ("manylinux_2_27_aarch64.manylinux_2_28_aarch64", (2, 27)),
        ("manylinux_2_17_aarch64.manylinux2014_aarch64", (2, 17)),
        ("linux_aarch64", None),
    ],
)
def test_the_glibc_of_a_tag(tag: str, glibc: tuple[int, int] | None) -> None:
    wheel = Wheel("some-package", "1.0", "pypi", ((3, 11),), {"aarch64": tag}, None, "")
    assert wheel.glibc("aarch64") == glibc
    assert wheel.glibc("x86_64") is None
    assert wheel.file((3, 11), "aarch64") == f"some_package-1.0-cp311-cp311-{tag}.whl"
    assert wheel.file((3, 11), "x86_64") == "some-package==1.0"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("910B4", "910B4"), ("910b4", "910B4"), ("Ascend910B4", "910B4"), ("910B4-1", "910B4-1"), ("910B", "910B"),
        ("Ascend 910B3", "910B3"), ("Ascend910", "Ascend910"), ("910C", "Ascend910"), ("ascend910_9391", "Ascend910"),
        ("A3", "Ascend910"), ("310P3vir02", "310P3"), ("ascend310p3", "310P3"), ("310P", "310P1"), ("A2", "910B1"),
    ],
)  # fmt: skip
def test_a_chip_is_taken_as_a_whole_word(said: str, name: str) -> None:
    chip = KNOWN.called(said)
    assert chip is not None
    assert name in chip.names


@pytest.mark.parametrize("said", ["", "910", "910B9", "910B44", "B4", "H100", "910B4 910B3"])
def test_what_is_no_chip_is_none(said: str) -> None:
    assert KNOWN.called(said) is None


def test_names_of_packages_changed_at_cann_8_5() -> None:
    old, new = KNOWN.names("8.3.RC2"), KNOWN.names("8.5.0")
    assert old is not None
    assert new is not None
    assert old.operators["A2"] == "Ascend-cann-kernels-910b_{version}_linux-{arch}.run"
    assert new.operators["A2"] == "Ascend-cann-910b-ops_{version}_linux-{arch}.run"
    assert KNOWN.names("9.2.0") == new
    assert KNOWN.names("6.3.RC1") is None


def test_what_lies_behind_a_login_says_so() -> None:
    assert [one.id for one in KNOWN.places.values() if one.login] == ["driver"]
