"""The figures of cards follow what runs on the rehearsal host, and nothing else."""

import os
import sys
from pathlib import Path

import pytest

from console.facts.npu_smi_info import parse_npu_smi_info
from tests.scripts.rehearsed import FAKE, Host, why_not

sys.path.insert(0, str(FAKE))
from pretend import load, place  # type: ignore[import-not-found]

inside = pytest.mark.skipif(bool(why_not()), reason=why_not())


def one(cpu_s: float, nodes: tuple[int, ...] = (0,)) -> load.Running:
    return load.Running(pid=7, name="VLLM::EngineCor", nodes=nodes, cpu_s=cpu_s, age_s=10.0, memory_mb=900)


def steps(moments: list[float], cpu: list[float], cpus: int) -> list[place.Data]:
    """The state after each look, with all of `cpus` processors busy when CPU time grows that fast."""
    kept: place.Data = {}
    seen = []
    for moment, used in zip(moments, cpu, strict=True):
        kept = load._next(kept, [one(used * cpus)], 2, moment)
        seen.append(kept["chips"])
    return seen


def test_an_engine_that_computes_makes_its_chip_busy_then_warm() -> None:
    cpus = len(os.sched_getaffinity(0))
    idle, begun, later, cooling, cold = steps([0, 10, 60, 64, 400], [0, 10, 60, 60, 60], cpus)
    assert idle[0]["busy"] == 0
    assert begun[0]["busy"] == 99
    assert 0.2 < begun[0]["warmth"] < later[0]["warmth"] < 1
    assert begun[0]["pull"] > begun[0]["warmth"]
    assert cooling[0]["busy"] == 0
    assert later[0]["warmth"] > cooling[0]["warmth"] > 0.5 > cold[0]["warmth"]
    assert all(look[1] == {"busy": 0, "warmth": 0.0, "pull": 0.0} for look in (idle, begun, later, cooling, cold))


CORE, WORKER = "VLLM::EngineCore", ("VLLM::Worker_TP0", "VLLM::Worker_TP1")


def seen(pid: int, words: str, *, nodes: tuple[int, ...] = (), wished: tuple[int, ...] = ()) -> load._Seen:
    return load._Seen(pid=pid, session=1, words=words, nodes=nodes, wished=wished)


@pytest.mark.parametrize(
    ("group", "holders"),
    [
        ([seen(1, "python vllm serve m"), seen(2, CORE)], {2: (0,)}),
        ([seen(1, "vllm serve m"), seen(2, CORE), seen(4, WORKER[1]), seen(3, WORKER[0])], {3: (0,), 4: (1,)}),
        ([seen(1, "/x/bin/vllm serve m", wished=(1,))], {1: (1,)}),
        ([seen(1, "vllm serve m", wished=(2, 3)), seen(5, WORKER[0]), seen(6, WORKER[1])], {5: (2,), 6: (3,)}),
        ([], {}),
    ],
)  # fmt: skip
def test_which_process_of_an_instance_holds_which_chip(group: list, holders: dict[int, tuple[int, ...]]) -> None:
    assert {one.pid: nodes for one, nodes in load._engines(group)} == holders


ENGINE = """
python3 -c 'import sys, time; from pathlib import Path; Path("/proc/self/comm").write_text("VLLM::EngineCore")
keep = bytearray(300 << 20); print("up", flush=True); time.sleep(30)' vllm serve model >/run/up &
engine=$!
until grep -q up /run/up; do sleep 0.1; done
"""


@inside
def test_an_engine_is_seen_on_its_chip_while_it_lives(tmp_path: Path) -> None:
    host = Host(tmp_path, "two-healthy-910b4")
    show = "npu-smi info; printf '@@\\n'"
    said = host.run(
        f"{show}; export ASCEND_RT_VISIBLE_DEVICES=1; {ENGINE} sleep 2.2; {show}; kill $engine; wait; sleep 2.2; {show}"
    )
    before, during, after = (parse_npu_smi_info(text) for text in said.split("@@\n")[:3])
    assert before.processes == after.processes == ()
    (process,) = during.processes
    assert (process.npu, process.name) == (1, "VLLM::EngineCor")
    assert 300 <= process.mem_mb <= 400
    assert during.devices[1].hbm_used_mb == before.devices[1].hbm_used_mb + process.mem_mb
    assert during.devices[0].hbm_used_mb == before.devices[0].hbm_used_mb == after.devices[0].hbm_used_mb


@inside
def test_nothing_moves_on_an_idle_host(tmp_path: Path) -> None:
    host = Host(tmp_path, "eight-910b3")
    looks = [parse_npu_smi_info(host.run("vllm() { :; }; vllm serve x; npu-smi info")) for _ in range(2)]
    for first, second in zip(looks[0].devices, looks[1].devices, strict=True):
        assert abs(first.power_w - second.power_w) < 1
        assert (first.temp_c, first.aicore_pct, first.hbm_used_mb, first.health) == (
            second.temp_c,
            0,
            second.hbm_used_mb,
            "OK",
        )
