"""The checklist over whole hosts says what a person would say who looked at the same outputs."""

from pathlib import Path

import pytest

from console.catalog.profiles import profile
from console.checks import CHECKS, Judged, Level, judge
from console.checks.check import judge_one
from console.facts.ascend import FACTS
from console.facts.probe import Facts, Raw, read
from console.text import render
from tests.checks.composed import FREE, HEALTHY, HELD, HOST, PORTS, SAMPLES, TITLE, each, host, rooms, sample

FAIL, WARN, UNKNOWN = Level.FAIL, Level.WARN, Level.UNKNOWN
SILENT = (
    "chip_supported", "card_memory", "cards_healthy", "card_temperature", "card_power", "card_ecc", "cards_free",
)  # fmt: skip
"""Checks that say nothing of a card while npu-smi is silent."""
NO_DRIVER = {
    "npu_tool": "absent",
    "npu_topo": "absent",
    "npu_ecc": "absent",
    "npu_health": "absent",
    "npu_nodes": "",
    "install_info": "absent",
    "driver_version": "absent",
    "firmware_version": "absent",
    "cann_toolkit": "absent",
    "cann_operators": "absent",
    "cann_nnal": "absent",
    "npu_ports": "absent",
    "hccn_conf": "absent",
    "npu_user": "user root\nuid 0\ngroups root\n",
}
HOT = {
    "npu_tool": FREE.replace("| OK            | 87.0        31 ", "| Alarm         | 87.0        96 "),
    "npu_health": f"== card 0\n{HEALTHY}\n== card 1\n"
    + HEALTHY.replace(": OK", ": Alarm").replace("Error Code                     : NA", "Error Code : 0x000E003B"),
}
BOX = "0f3c" * 16
A3 = sample("npu_smi_info_a3_25.2.0_two_cards")
A3_BUS = "".join(f"0000:{bus}:00.0 0x19e5 0xd803 0x120000\n" for bus in ("9c", "9e", "37", "39"))
DOWN = PORTS.replace("link status: UP", "link status: DOWN", 1).replace(
    "health status: Success", "health status: Fail", 1
)

SCENARIOS: dict[str, tuple[Facts, str, dict[str, tuple[Level, str]]]] = {
    "two healthy 910B4": (host(), "ascend-reference", {}),
    "the same by the small profile": (host(), "ascend-two-cards", {}),
    "one card too hot": (
        host(**HOT),
        "ascend-reference",
        {"cards_healthy": (FAIL, "NPU 1: Alarm 0x000E003B"), "card_temperature": (FAIL, "NPU 1: 96 °C")},
    ),
    "one idle card warm, no alarm": (
        host(npu_tool=FREE.replace("87.0        31 ", "87.0        52 ")),
        "ascend-reference",
        {"card_temperature": (WARN, "NPU 1: 52 °C")},
    ),
    "driver missing": (
        host(**NO_DRIVER),
        "ascend-reference",
        {
            "cards_in_npu_smi": (FAIL, "On the PCIe bus: 2; npu-smi is not installed"),
            "driver_installed": (FAIL, "No driver"),
            "cann_complete": (WARN, "not installed yet"),
            "npu_permission": (WARN, "HwHiAiUser does not exist"),
            "driver_and_cann": (UNKNOWN, "No driver"),
            "driver_and_firmware": (UNKNOWN, "missing"),
            **dict.fromkeys(SILENT, (UNKNOWN, "npu-smi is not installed")),
            "card_placement": (UNKNOWN, "near"),
        },
    ),
    "CANN and driver in conflict": (
        host(
            npu_tool=FREE.replace("25.5.1", "24.1.1"),
            driver_version=sample("driver_version_info_24.1.rc1"),
            firmware_version="Version=7.1.0.6.220\nfirmware_version=1.0\n",
        ),
        "ascend-reference",
        {
            "driver_and_cann": (FAIL, "Driver 24.1.1, CANN 9.1.0"),
            "installed_parts_fit": (FAIL, "Driver 24.1.1 does not go with CANN 9.1.0"),
        },
    ),
    "firmware of another bundle": (
        host(firmware_version="Version=7.1.0.6.220\nfirmware_version=1.0\n"),
        "ascend-reference",
        {"driver_and_firmware": (FAIL, "7.1.0.6.220")},
    ),
    "card held by a container": (
        host(
            npu_tool=HELD,
            npu_holders=f"all yes\nholder 1406630 0 {BOX} mindie_llm_back\nholder 60575 - - python\n",
            containers=f"begin\n{BOX} mindie-service registry/mindie:2\n",
        ),
        "ascend-reference",
        {"cards_free": (FAIL, "1 of 2 free. Taken: NPU 0: mindie_llm_back (PID 1406630, Docker mindie-service)")},
    ),
    "A3": (
        host(npu_tool=A3, npu_pci=A3_BUS, npu_nodes="davinci0 davinci1 davinci2 davinci3 davinci_manager"),
        "ascend-reference",
        {
            "chip_supported": (WARN, "Ascend910 (A3)"),
            "cards_free": (WARN, "3 of 4 free. Taken: NPU 1 Chip 1: python (PID 990711)"),
            "driver_and_cann": (WARN, "Driver 25.2.0, CANN 9.1.0"),
        },
    ),
    "first generation": (
        host(npu_tool=sample("npu_smi_info_910b_22.0.4.1_gmem"), npu_pci="0000:81:00.0 0x19e5 0xd801 0x120000\n"),
        "ascend-reference",
        {
            "cards_on_bus": (FAIL, "1 on the PCIe bus"),
            "chip_supported": (FAIL, "910B: a chip that vLLM Ascend does not support"),
            "cards_free": (FAIL, "1 free"),
            "card_temperature": (WARN, "NPU 0: 82 °C"),
            "driver_and_cann": (FAIL, "Driver 22.0.4.1"),
            "installed_parts_fit": (FAIL, "910B is a first-generation Ascend 910"),
        },
    ),
    "driver hangs": (
        host(npu_tool="The query timed out.\n", **dict.fromkeys(("npu_topo", "npu_ecc", "npu_health"), "timeout")),
        "ascend-reference",
        {
            "cards_in_npu_smi": (FAIL, "the driver, or a library in front of it, hangs"),
            **dict.fromkeys(SILENT, (UNKNOWN, "did not finish")),
            "card_placement": (UNKNOWN, "did not finish"),
        },
    ),
    "not root": (
        host(
            npu_user="user pilot\nuid 1000\ngroups pilot\nowner HwHiAiUser\n",
            install_info=sample("ascend_install_info_complete"),
            memory_modules="/sys/firmware/dmi/tables/smbios_entry_point: Permission denied\n",
            npu_holders="all no\n",
        ),
        "ascend-reference",
        {"npu_permission": (FAIL, "pilot, in the groups pilot"), "memory_correction": (UNKNOWN, "may not do that")},
    ),
    "disk full": (
        host(rooms=rooms(work=100, cann=3, shm=0)),
        "ascend-reference",
        {
            "room_in_work_folder": (FAIL, "100.0 GiB"),
            "room_for_cann": (FAIL, "3.0 GiB"),
            "shared_memory": (FAIL, "0.0 GiB"),
        },
    ),
    "RoCE link down between nodes": (
        host(npu_ports=DOWN),
        "ascend-multi-node",
        {
            "npu_links": (FAIL, "NPU 0: DOWN"),
            "npu_net_health": (FAIL, "NPU 0: Fail"),
            # Two small cards are no node of several, and the list says so.
            "cards_on_bus": (FAIL, "2 on the PCIe bus"),
            "cards_free": (FAIL, "2 free"),
            "card_memory": (FAIL, "2 × 32 GiB"),
            "host_memory": (WARN, "503 GiB"),
            "room_in_work_folder": (FAIL, "900.0 GiB"),
        },
    ),
}  # fmt: skip


def table(judged: list[Judged]) -> dict[str, tuple[Level, str]]:
    return {one.name: (one.verdict.level, render(one.verdict.seen, "en")) for one in judged}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_checklist_says_what_a_person_would_say(name: str) -> None:
    facts, profile_id, wanted = SCENARIOS[name]
    found = table(judge(facts, profile(profile_id)))
    assert list(found) == list(profile(profile_id).checks)
    odd = {check: level for check, (level, _) in found.items() if level is not Level.PASS}
    assert odd == {check: level for check, (level, _) in wanted.items()}, {one: found[one] for one in odd}
    for check, (_, words) in wanted.items():
        assert words in found[check][1]


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_whatever_is_not_well_says_what_to_do(name: str, language: str) -> None:
    facts, profile_id, _ = SCENARIOS[name]
    for one in judge(facts, profile(profile_id)):
        assert (one.verdict.fix is None) == (one.verdict.level is Level.PASS), one.name
        for text in (one.title, one.why, one.verdict.seen, one.verdict.wanted, one.verdict.fix):
            assert text is None or ("{" not in render(text, language) and render(text, language).strip()), one.name


@pytest.mark.parametrize("name", sorted(HOST))
def test_an_answer_that_was_cut_breaks_no_check(name: str) -> None:
    """At worst a check becomes unknown; none crashes, and none of another fact changes."""
    whole = host()
    fact = next(one for one in FACTS if one.name == name)
    checks = [CHECKS[check] for check in profile("ascend-multi-node").checks]
    for part in range(8):
        text = HOST[name][: len(HOST[name]) * part // 8]
        cut = read({name: Raw(name, text, 0, 0.1)}, [fact])
        values = {**{one: value for one, value in whole.values.items() if one != name}, **cut.values}
        for check in checks:
            if name in (*check.facts, *check.optional):
                seen = judge_one(check, Facts(values, cut.reasons), profile("ascend-multi-node")).verdict.seen
                assert "The check itself failed" not in render(seen, "en"), (check.name, text, render(seen, "en"))


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("npu_smi_*.txt")), ids=lambda path: path.stem)
def test_whatever_npu_smi_prints_no_check_breaks(path: Path) -> None:
    for profile_id in ("ascend-reference", "ascend-multi-node"):
        for one in judge(host(npu_tool=path.read_text(encoding="utf-8")), profile(profile_id)):
            assert "The check itself failed" not in render(one.verdict.seen, "en"), one.name


def test_a_fix_for_heat_names_fans_air_and_liquid() -> None:
    judged = {one.name: one.verdict for one in judge(host(**HOT), profile("ascend-reference"))}
    fix = judged["card_temperature"].fix
    assert fix
    assert all(word in render(fix, "en") for word in ("fan curve", "airflow", "liquid cooling"))


def test_the_holder_is_stopped_by_name() -> None:
    facts, profile_id, _ = SCENARIOS["card held by a container"]
    judged = {one.name: one.verdict for one in judge(facts, profile(profile_id))}
    assert judged["cards_free"].fix_command == "docker stop mindie-service"


def test_the_composed_host_answers_every_question_of_the_reference_profile() -> None:
    assert TITLE in HOST["npu_tool"]
    assert each(HEALTHY).count("== card") == 2
    assert host().reasons.keys() <= {
        "probe", "npu_list", "npu_map", "npu_board", "npu_chips", "npu_common", "npu_memory", "npu_power", "npu_usages",
    }  # fmt: skip
