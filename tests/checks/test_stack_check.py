"""Parts that do not go together show in the checklist, with the next package to fetch."""

import pytest

from console.catalog.profiles import profile
from console.checks import CHECKS, Level
from console.checks.check import Verdict, judge_one
from console.facts.probe import Facts
from console.text import render
from tests.checks.composed import host, sample

FITTING = "vllm==0.23.0\nvllm-ascend==0.23.0\ntorch==2.10.0\ntorch-npu==2.10.0.post4\n"


def verdict(facts: Facts) -> Verdict:
    return judge_one(CHECKS["installed_parts_fit"], facts, profile("ascend-reference")).verdict


@pytest.mark.parametrize("name", ["ascend-two-cards", "ascend-reference", "ascend-multi-node"])
def test_every_profile_for_npus_asks_it(name: str) -> None:
    assert "installed_parts_fit" in profile(name).checks


def test_parts_that_go_together_pass() -> None:
    found = verdict(host(packages=FITTING))
    assert found.level is Level.PASS
    assert "vllm-ascend 0.23.0" in render(found.seen, "en")


def test_the_next_package_is_named_exactly() -> None:
    found = verdict(host(packages=FITTING, cann_toolkit=sample("cann_toolkit_install_info_8.5.0_aarch64")))
    assert found.level is Level.FAIL
    assert "vllm-ascend 0.23.0 goes with CANN 9.1.0, not with 8.5.0" in render(found.seen, "en")
    assert found.fix is not None
    assert "Ascend-cann-910b-ops_9.1.0_linux-aarch64.run" in render(found.fix, "en")
    assert any("versioning_policy" in one for one in found.evidence)


def test_several_conflicts_are_all_told_and_the_lowest_mended_first() -> None:
    found = verdict(host(packages=FITTING.replace("vllm==0.23.0", "vllm==0.22.1"), npu_tool="absent",
                         driver_version=sample("driver_version_info_24.1.rc1")))  # fmt: skip
    seen = render(found.seen, "en")
    assert seen.index("Driver 24.1.rc1") < seen.index("vLLM 0.23.0, not with 0.22.1")
    assert found.fix is not None
    assert "firmware_7.8.0.6.201.run, Ascend-hdk-910b-npu-driver_25.5.1_linux-aarch64.run" in render(found.fix, "en")


def test_a_release_nobody_knows_is_a_warning() -> None:
    found = verdict(host(packages="vllm-ascend==0.23.1.dev3+gabc\n"))
    assert found.level is Level.WARN
    assert found.fix is not None


def test_an_empty_host_has_no_conflict() -> None:
    found = verdict(host(npu_tool="absent", driver_version="absent", firmware_version="absent", cann_toolkit="absent"))
    assert found.level is Level.PASS
    assert "Nothing is installed" in render(found.seen, "en")
