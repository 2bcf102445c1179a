"""Every check at every level it knows, with small fact values."""

from dataclasses import replace
from typing import Any

import pytest

from console.catalog.profiles import profile
from console.checks import CHECKS, Level, judge
from console.checks.check import Check, judge_one
from console.facts.listeners import Listener
from console.facts.memory import Meminfo
from console.facts.npu_presence import NpuNodes, NpuTool, PciNpu, parse_npu_tool
from console.facts.os_release import OsRelease
from console.facts.probe import Facts
from console.facts.pythons import Python
from console.facts.rooms import NumaNode, Room
from console.facts.system import Clock, Kernel, Libc, Limits, ProbeNote, Wish
from console.text import Text, render, say

CPU = profile("this-machine-cpu")
GIB = 2**30
UBUNTU = OsRelease("ubuntu", "debian", "Ubuntu", "22.04", "22.04", "jammy", "Ubuntu 22.04.5 LTS", None)
EULER = OsRelease("openEuler", None, "openEuler", "24.03", "24.03 (LTS)", None, "openEuler 24.03 (LTS)", None)
NODE = NumaNode(0, "0-31", None, None)


def memory(gib: float | None) -> Meminfo:
    return Meminfo(64 * 2**20, None, None if gib is None else int(gib * 2**20), None, None, None, None, None)


def room(name: str, gib: float, writable: bool = True) -> dict[str, Room]:
    return {name: Room(name, "/data/pilot", "/data", writable, int(gib * GIB), 100 * GIB, "/dev/sda1", "/data")}


def python(minor: int, venv: bool = True, pip: bool = True) -> Python:
    return Python(f"/usr/bin/python3.{minor}", (3, minor, 4), venv, pip)


ARM, X86 = {"arch": "aarch64"}, {"arch": "x86_64"}
NO_NPU: dict[str, object] = {"npu_pci": (), "npu_nodes": NpuNodes((), False), "npu_tool": NpuTool(False)}
CARD = PciNpu("0000:c1:00.0", "d802", "Ascend 910B (A2)")
Facts_ = dict[str, Any]
CASES: list[tuple[str, Level, Facts_, str]] = [
    ("operating_system", Level.PASS, {"kernel": Kernel("Linux", "6.1.0", "x86_64"), "os_release": UBUNTU}, "Ubuntu"),
    ("operating_system", Level.PASS, {"kernel": Kernel("Linux", "6.1.0", "x86_64")}, "Linux 6.1.0"),
    ("operating_system", Level.FAIL, {"kernel": Kernel("Darwin", "24.1.0", "arm64")}, "Darwin"),
    ("architecture", Level.PASS, ARM, "aarch64"),
    ("architecture", Level.FAIL, {"arch": "riscv64"}, "riscv64"),
    ("c_library", Level.PASS, {"libc": Libc("glibc", (2, 31))}, "glibc 2.31"),
    ("c_library", Level.FAIL, {"libc": Libc("glibc", (2, 28))}, "glibc 2.28"),
    ("c_library", Level.FAIL, {"libc": Libc("musl", None)}, "musl"),
    ("clock_is_plausible", Level.PASS, {"clock": Clock(1796083200, "+0800")}, "2026-12-01"),
    ("clock_is_plausible", Level.WARN, {"clock": Clock(1500000000, "+0000")}, "2017"),
    ("clock_is_plausible", Level.PASS, {"clock": Clock(1796083200, "+0800", 1796083190)}, "2026-12-01"),
    ("clock_is_plausible", Level.WARN, {"clock": Clock(1827619200, "+0800", 1796083200)}, "365 d 0 h 0 min ahead"),
    ("clock_is_plausible", Level.WARN, {"clock": Clock(1796083200, "+0800", 1796083530)}, "0 d 0 h 5 min behind"),
    ("language_setting", Level.PASS, {"locale": "zh_CN.UTF-8"}, "zh_CN.UTF-8"),
    ("language_setting", Level.PASS, {"locale": "en_US.utf8@euro"}, "utf8"),
    ("language_setting", Level.WARN, {"locale": "C"}, "C"),
    ("language_setting", Level.WARN, {"locale": ""}, "None is set"),
    ("cpu_instructions", Level.PASS, {**X86, "cpu_flags": frozenset({"avx2", "avx512f", "avx512_bf16"})}, "avx512f"),
    ("cpu_instructions", Level.WARN, {**X86, "cpu_flags": frozenset({"avx2", "avx512f"})}, "avx2, avx512f"),
    ("cpu_instructions", Level.FAIL, {**X86, "cpu_flags": frozenset({"avx"})}, "x86_64 with -"),
    ("cpu_instructions", Level.PASS, {**ARM, "cpu_flags": frozenset({"asimd", "bf16"})}, "asimd, bf16"),
    ("cpu_instructions", Level.WARN, {**ARM, "cpu_flags": frozenset({"asimd"})}, "asimd"),
    ("cpu_instructions", Level.FAIL, {**ARM, "cpu_flags": frozenset({"fp"})}, "aarch64"),
    ("cpu_instructions", Level.FAIL, {"arch": "riscv64", "cpu_flags": frozenset({"avx2"})}, "riscv64"),
    ("cpu_cores", Level.PASS, {"usable_cpus": 2}, "2 usable"),
    ("cpu_cores", Level.WARN, {"usable_cpus": 1}, "1 usable"),
    ("cpu_cores", Level.WARN, {"usable_cpus": 64, "limits": Limits(None, None, 1.5)}, "a CPU quota of 1.5"),
    ("cpu_cores", Level.PASS, {"usable_cpus": 64, "limits": Limits(None, None, 8.0)}, "quota"),
    ("numa_layout", Level.PASS, {"numa": ()}, "One node"),
    ("numa_layout", Level.PASS, {"numa": (NODE, replace(NODE, node=1, cpus=""))}, "One node"),
    ("numa_layout", Level.PASS, {"numa": (NODE, replace(NODE, node=1, cpus="32-63"))}, "1: CPU 32-63"),
    ("memory_available", Level.PASS, {"meminfo": memory(6)}, "6.0 GiB available of 64.0 GiB"),
    ("memory_available", Level.WARN, {"meminfo": memory(5.9)}, "5.9 GiB"),
    ("memory_available", Level.FAIL, {"meminfo": memory(3.9)}, "3.9 GiB"),
    ("memory_available", Level.UNKNOWN, {"meminfo": memory(None)}, "does not say"),
    ("memory_available", Level.FAIL, {"meminfo": memory(60), "limits": Limits(4 * GIB, GIB, None)}, "3.0 GiB left"),
    ("memory_available", Level.PASS, {"meminfo": memory(60), "limits": Limits(None, None, 2.0)}, "60.0 GiB"),
    ("room_in_work_folder", Level.PASS, {"rooms": room("work", 8)}, "8.0 GiB free on /data"),
    ("room_in_work_folder", Level.WARN, {"rooms": room("work", 7.9)}, "7.9 GiB"),
    ("room_in_work_folder", Level.FAIL, {"rooms": room("work", 4.9)}, "4.9 GiB"),
    ("room_in_work_folder", Level.FAIL, {"rooms": room("work", 50, writable=False)}, "may not write"),
    ("room_for_temporary_files", Level.PASS, {"rooms": room("tmp", 2)}, "2.0 GiB"),
    ("room_for_temporary_files", Level.WARN, {"rooms": room("tmp", 0.5)}, "0.5 GiB"),
    ("room_for_temporary_files", Level.FAIL, {"rooms": room("tmp", 5, writable=False)}, "Nothing can be written"),
    (
        "room_for_temporary_files",
        Level.FAIL,
        {"rooms": room("tmp", 5), "probe": ProbeNote("/dev/shm/x", ("/data/pilot",))},
        "Nothing can be written",
    ),
    ("python_with_venv", Level.PASS, {"pythons": (python(9), python(12))}, "3.12.4 at /usr/bin/python3.12"),
    ("python_with_venv", Level.FAIL, {"pythons": (python(11, pip=False),), "os_release": UBUNTU}, "cannot make"),
    ("python_with_venv", Level.FAIL, {"pythons": (python(9),), "os_release": EULER}, "Only other versions: 3.9.4"),
    ("python_with_venv", Level.FAIL, {"pythons": (python(15),)}, "3.15.4"),
    ("python_with_venv", Level.FAIL, {"pythons": ()}, "No Python"),
    ("port_is_free", Level.PASS, {"listeners": (Listener("::", 22),), "wish": Wish("/d", 8000)}, "8000"),
    ("port_is_free", Level.WARN, {"listeners": (Listener("::", 8000),), "wish": Wish("/d", 8000)}, "in use"),
    (
        "port_is_free",
        Level.WARN,
        {"listeners": (Listener("0.0.0.0", 8000), Listener("::", 8000, "vllm", 7)), "wish": Wish("/d", 8000)},
        "by vllm (process 7)",
    ),
    ("npu_presence", Level.PASS, NO_NPU, "the CPU is used"),
    ("npu_presence", Level.WARN, {**NO_NPU, "npu_pci": (CARD,)}, "On the PCI bus: 1"),
    ("npu_presence", Level.WARN, {**NO_NPU, "npu_nodes": NpuNodes((0, 1), True)}, "NPU device files: 2"),
    ("npu_presence", Level.WARN, {**NO_NPU, "npu_tool": parse_npu_tool("dcmi failed. ret is -8005")}, "no NPU is vis"),
]


@pytest.mark.parametrize(("name", "level", "values", "words"), CASES)
def test_check_judges(name: str, level: Level, values: Facts_, words: str) -> None:
    verdict = judge_one(CHECKS[name], Facts(values), CPU).verdict
    assert verdict.level is level
    assert words in render(verdict.seen, "en")
    assert (verdict.fix is None) == (level is Level.PASS)
    for text in (verdict.seen, verdict.wanted, verdict.fix):
        assert text is None or "{" not in render(text, "en")


def test_every_check_of_the_profile_is_judged_at_pass_and_at_something_worse() -> None:
    for name in CPU.checks:
        levels = {level for case, level, _, _ in CASES if case == name}
        assert Level.PASS in levels, name
        assert len(levels) > 1 or name == "numa_layout", name


@pytest.mark.parametrize("name", CPU.checks)
def test_a_missing_fact_gives_unknown_with_its_reason(name: str) -> None:
    facts = Facts(reasons={fact: say("The tool is not there.") for fact in CHECKS[name].facts})
    judged = judge_one(CHECKS[name], facts, CPU)
    assert judged.verdict.level is Level.UNKNOWN
    assert "The tool is not there." in render(judged.verdict.seen, "en")


def test_nothing_observed_gives_a_whole_list_of_unknowns() -> None:
    judged = judge(Facts(), CPU)
    assert [one.name for one in judged] == list(CPU.checks)
    assert {one.verdict.level for one in judged} == {Level.UNKNOWN}


def test_a_check_that_crashes_is_unknown_and_names_the_error() -> None:
    def crash(arch: str) -> Any:
        raise KeyError(arch)

    broken = Check("broken", "system", Text("T"), Text("W"), ("arch",), (), False, crash)
    verdict = judge_one(broken, Facts({"arch": "x"}), CPU).verdict
    assert verdict.level is Level.UNKNOWN
    assert "KeyError: 'x'" in render(verdict.seen, "en")


def test_fix_commands_fit_the_system() -> None:
    one = CHECKS["python_with_venv"]
    debian = judge_one(one, Facts({"pythons": (python(11, venv=False),), "os_release": UBUNTU}), CPU).verdict
    euler = judge_one(one, Facts({"pythons": (python(11, venv=False),), "os_release": EULER}), CPU).verdict
    assert debian.fix_command == "sudo apt install python3.11-venv"
    assert euler.fix_command.startswith("sudo dnf")
