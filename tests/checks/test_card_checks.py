"""Every check of cards and their driver at every level it knows, with small fact values."""

import pytest

from console.checks import CHECKS, Level
from console.facts.cards import parse_cards
from console.facts.holders import Containers, Holder, Holders
from console.facts.npu_presence import NpuNodes, parse_npu_tool
from console.facts.npu_smi_reading import Process
from console.facts.system import Wish
from console.facts.tuning import Headers, NpuUser
from console.facts.versions import VersionFile
from tests.checks.small_facts import (
    FAIL,
    INSIDE,
    NO_NPU_SMI,
    ONE,
    PASS,
    TWO,
    UNKNOWN,
    WARN,
    Values,
    assert_case,
    device,
    ecc,
    pci,
    tool,
)  # fmt: skip

Case = tuple[str, Level, Values, str]
CASES: list[Case] = [
    ("cards_on_bus", PASS, {"npu_pci": pci("c1", "c2")}, "2 on the PCIe bus"),
    ("cards_on_bus", PASS, {"npu_pci": (), "npu_tool": tool(ONE, TWO)}, "not visible here"),
    ("cards_on_bus", FAIL, {"npu_pci": pci("c1")}, "1 on the PCIe bus"),
    ("cards_in_npu_smi", PASS, {"npu_pci": pci("c1", "c2"), "npu_tool": tool(ONE, TWO)}, "2 chips"),
    ("cards_in_npu_smi", PASS, {"npu_pci": pci("c1"), "npu_tool": tool(device(0, bus_id=None))}, "1 chips"),
    ("cards_in_npu_smi", FAIL, {"npu_pci": pci("c1", "c2"), "npu_tool": tool(ONE)}, "Missing in npu-smi: 0000:c2:00.0"),
    ("cards_in_npu_smi", FAIL, {"npu_pci": pci("c1"), "npu_tool": NO_NPU_SMI}, "1; npu-smi is not installed"),
    ("cards_in_npu_smi", FAIL, {"npu_pci": (), "npu_tool": parse_npu_tool("dcmi failed. ret is -8020")}, "held by"),
    ("cards_in_npu_smi", FAIL, {"npu_pci": (), "npu_tool": parse_npu_tool("dcmi failed. ret is -8005")}, "not answer"),
    ("cards_in_npu_smi", WARN, {"npu_pci": pci("c1"), "npu_tool": tool(ONE, status="partial")}, "incomplete"),
    ("chip_supported", PASS, {"npu_tool": tool(device(0, name="910B2C"))}, "910B2C (A2)"),
    ("chip_supported", PASS, {"npu_tool": tool(device(0, name="910B4-1"))}, "910B4-1 (A2)"),
    ("chip_supported", WARN, {"npu_tool": tool(device(0, name="Ascend910"))}, "(A3)"),
    ("chip_supported", WARN, {"npu_tool": tool(device(0, name="310P3vir04"))}, "310P3vir04 (310P)"),
    ("chip_supported", FAIL, {"npu_tool": tool(device(0, name="910B"))}, "910B: a chip that"),
    ("chip_supported", FAIL, {"npu_tool": tool(device(0, name="xxx")), "npu_pci": pci("c1", device_id="d801")}, "xxx"),
    ("chip_supported", FAIL, {"npu_tool": NO_NPU_SMI, "npu_pci": pci("c1", device_id="d801")}, "Ascend 910"),
    ("chip_supported", UNKNOWN, {"npu_tool": tool(device(0, name="910Z9"))}, "910Z9, which is not"),
    ("card_memory", PASS, {"npu_tool": tool(ONE, device(1, hbm_total_mb=65536))}, "1 × 32 GiB, 1 × 64 GiB"),
    ("card_memory", FAIL, {"npu_tool": tool(device(0, hbm_total_mb=None, mem_total_mb=21527))}, "21.0"),
    ("card_memory", UNKNOWN, {"npu_tool": tool(device(0, hbm_total_mb=None))}, "does not tell"),
    ("cards_healthy", PASS, {"npu_tool": tool(ONE, TWO)}, "OK for 2 chips"),
    ("cards_healthy", WARN, {"npu_tool": tool(device(0, health="Warning"))}, "NPU 0: Warning"),
    ("cards_healthy", WARN, {"npu_tool": tool(device(0, health=None))}, "NPU 0: UNKNOWN"),
    ("cards_healthy", FAIL, {"npu_tool": tool(ONE, device(1, health="Critical"))}, "NPU 1: Critical"),
    (
        "cards_healthy",
        FAIL,
        {"npu_tool": tool(ONE), "npu_health": parse_cards("health")("== card 0\nHealth : Alarm\nError Code : 0x8C\n")},
        "NPU 0: Alarm 0x8C",
    ),
    ("card_temperature", PASS, {"npu_tool": tool(ONE, device(1, temp_c=75.0, aicore_pct=61.0))}, "31 – 75 °C"),
    ("card_temperature", WARN, {"npu_tool": tool(device(0, temp_c=68.0))}, "too warm: NPU 0: 68 °C"),
    ("card_temperature", WARN, {"npu_tool": tool(ONE, device(1, temp_c=46.0))}, "too warm: NPU 1: 46 °C"),
    ("card_temperature", FAIL, {"npu_tool": tool(device(0, temp_c=96.0, health="Alarm", aicore_pct=90.0))}, "96 °C"),
    ("card_temperature", UNKNOWN, {"npu_tool": tool(device(0, temp_c=None))}, "no temperature"),
    ("card_power", PASS, {"npu_tool": tool(ONE, device(1, power_w=300.0, aicore_pct=80.0))}, "88 – 300 W"),
    ("card_power", PASS, {"npu_tool": tool(device(0, chip=0), device(0, chip=1, power_w=None))}, "88 W"),
    ("card_power", WARN, {"npu_tool": tool(ONE, device(1, power_w=0.0))}, "unlike the others: NPU 1"),
    ("card_power", WARN, {"npu_tool": tool(ONE, TWO, device(2, power_w=200.0))}, "unlike the others: NPU 2"),
    ("card_power", UNKNOWN, {"npu_tool": tool(device(0, power_w=None))}, "no power"),
    ("card_ecc", PASS, {"npu_ecc": ecc()}, "None on 1 cards"),
    ("card_ecc", WARN, {"npu_ecc": ecc(single=3, total=1)}, "hbm_single_bit 3"),
    ("card_ecc", FAIL, {"npu_ecc": ecc(double=1)}, "hbm_double_bit 1"),
    ("card_ecc", UNKNOWN, {"npu_ecc": None}, "not installed"),
    ("cards_free", PASS, {"npu_tool": tool(ONE, TWO)}, "2 free"),
    ("cards_free", WARN, {"npu_tool": tool(ONE, TWO, device(2, hbm_used_mb=20687))}, "Taken: NPU 2: ?"),
    ("cards_free", FAIL, {"npu_tool": tool(ONE)}, "1 free"),
    (
        "cards_free",
        FAIL,
        {"npu_tool": tool(ONE, TWO, processes=(Process(1, 0, 7, "python", 500),))},
        "NPU 1: python (PID 7)",
    ),
    (
        "cards_free",
        FAIL,
        {
            "npu_tool": tool(ONE, TWO),
            "npu_holders": Holders((Holder(9, 0, INSIDE, "vllm"),), True),
            "containers": Containers({INSIDE: "mine"}),
        },
        "NPU 0: vllm (PID 9, Docker mine)",
    ),
    ("cards_free", UNKNOWN, {"npu_tool": tool(ONE, TWO, process_table="absent")}, "only root sees"),
    (
        "cards_free",
        PASS,
        {
            "npu_tool": tool(device(0, hbm_used_mb=30000), TWO),
            "npu_holders": Holders((Holder(9, 0, None, "VLLM::Worker", "/data/instances/3/1"),), True),
            "wish": Wish("/data", 8000),
        },
        "1 free; used by instances of this console: NPU 0: VLLM::Worker (PID 9)",
    ),
    (
        "cards_free",
        FAIL,
        {
            "npu_tool": tool(ONE, TWO),
            "npu_holders": Holders((Holder(9, 0, None, "VLLM::Worker", "/data2/instances/3/1"),), True),
            "wish": Wish("/data", 8000),
        },
        "Taken: NPU 0: VLLM::Worker (PID 9)",
    ),
    (
        "cards_free",
        WARN,
        {
            "npu_tool": tool(ONE, TWO, device(2)),
            "npu_holders": Holders(
                (Holder(9, 0, None, "VLLM::Worker", "/data/instances/3/1"), Holder(8, 1, None, "python", "/home/bob")),
                True,
            ),
            "wish": Wish("/data/", 8000),
        },
        "1 of 3 free. Taken: NPU 1: python (PID 8). Used by instances of this console: NPU 0",
    ),
    (
        "driver_installed",
        PASS,
        {"driver_version": VersionFile(driver="25.5.1"), "npu_tool": tool(ONE)},
        "Driver 25.5.1",
    ),
    ("driver_installed", FAIL, {"driver_version": None, "npu_tool": NO_NPU_SMI}, "No driver"),
    ("driver_installed", FAIL, {"driver_version": None, "npu_tool": tool(ONE, warnings=("x",))}, "not completely"),
    (
        "driver_installed",
        FAIL,
        {"driver_version": None, "npu_tool": tool(ONE), "install_info": VersionFile(complete=False)},
        "not completely",
    ),
    (
        "driver_installed",
        FAIL,
        {"driver_version": None, "npu_tool": tool(ONE), "npu_nodes": NpuNodes((), False)},
        "under /dev are missing",
    ),
    (
        "driver_and_firmware",
        PASS,
        {
            "driver_version": VersionFile(compatible_fw=("7.0.0", "7.2.99")),
            "firmware_version": VersionFile(firmware="7.1.0.6.220"),
        },
        "Firmware 7.1.0.6.220",
    ),
    (
        "driver_and_firmware",
        FAIL,
        {
            "driver_version": VersionFile(compatible_fw=("7.0.0", "7.2.99")),
            "firmware_version": VersionFile(firmware="7.7.0.1.231"),
        },
        "Firmware 7.7.0.1.231",
    ),
    ("driver_and_firmware", UNKNOWN, {"driver_version": None, "firmware_version": None}, "missing"),
    (
        "driver_and_firmware",
        UNKNOWN,
        {"driver_version": VersionFile(), "firmware_version": VersionFile()},
        "do not tell",
    ),
    ("headers_for_kernel", PASS, {"kernel_headers": Headers("5.10", "/lib/modules/5.10/build", ())}, "5.10/build"),
    (
        "headers_for_kernel",
        FAIL,
        {"kernel_headers": Headers("5.10", None, ("5.15",)), "npu_nodes": None},
        "kernels: 5.15",
    ),
    ("headers_for_kernel", WARN, {"kernel_headers": Headers("5.10", None, ())}, "None for this kernel"),
    ("npu_permission", PASS, {"npu_user": NpuUser("root", 0, ("root",), True)}, "root, in the groups root"),
    ("npu_permission", PASS, {"npu_user": NpuUser("p", 9, ("p", "HwHiAiUser"), True)}, "HwHiAiUser"),
    (
        "npu_permission",
        PASS,
        {"npu_user": NpuUser("p", 9, ("p",), True), "install_info": VersionFile(for_all=True)},
        "p, in",
    ),
    ("npu_permission", FAIL, {"npu_user": NpuUser("p", 9, ("p",), True)}, "p, in the groups p"),
    ("npu_permission", WARN, {"npu_user": NpuUser("root", 0, ("root",), False)}, "does not exist yet"),
]


@pytest.mark.parametrize(("name", "level", "values", "words"), CASES)
def test_check_judges(name: str, level: Level, values: Values, words: str) -> None:
    assert_case(name, level, values, words)


def test_every_check_passes_for_something_and_does_not_for_something_else() -> None:
    for name in {case[0] for case in CASES}:
        assert {level for case, level, _, _ in CASES if case == name} > {PASS}, name


@pytest.mark.parametrize("name", sorted({case[0] for case in CASES if "npu_tool" in CHECKS[case[0]].facts}))
def test_no_check_invents_a_card_when_npu_smi_is_silent(name: str) -> None:
    if name not in ("cards_in_npu_smi", "driver_installed"):
        assert_case(name, UNKNOWN, {"npu_tool": NO_NPU_SMI}, "npu-smi is not installed")
        assert_case(name, UNKNOWN, {"npu_tool": parse_npu_tool("dcmi failed. ret is -8005")}, "driver does not answer")
