"""Cards as places for servers: a held one is never handed out twice, and a first spec fits on what is free."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from console.errors import Conflict, InvalidInput
from console.facts.chips import Chip
from console.facts.holding import Held, Use
from console.facts.probe import Raw
from console.hosts import installed, inventory, kept
from console.hosts.cards import Card
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.serving import instances, npu_defaults, numbering, seats
from console.serving.asked import ServeSpec
from console.serving.state import State
from tests.hosts.conftest import data
from tests.running import ROOT
from tests.serving.test_ascend_backends import npus

__all__ = ["data"]
GIB = 2**30
LIST = "    Total Count : 1\n\n    NPU ID : 0\n    Chip Count : 2\n"


@pytest.fixture
def far(data: Path) -> Host:
    return inventory.add_host("npu-1", Reach("192.0.2.7"), actor="ann")


def chip(number: int, **changes: object) -> Chip:
    plain: dict[str, object] = {
        "npu": number, "chip": 0, "logic_id": number, "name": "910B4", "health": "OK",
        "hbm_used_bytes": 3 * GIB, "hbm_total_bytes": 32 * GIB, "use": Use.FREE,
    }  # fmt: skip
    return Chip(**{**plain, **changes})  # type: ignore[arg-type]


def cards(host: Host, *chips: Chip, several: bool = False, own: dict[int, str] | None = None) -> list[Card]:
    return [Card(host, 0.0, one, several, own or {}) for one in chips]


def server(host: Host, spec: ServeSpec) -> instances.Instance:
    return instances.instance(instances.create(host.id, spec, noise=False, actor="ann"))


def test_a_card_that_somebody_holds_is_not_free(far: Host) -> None:
    held = chip(0, held=(Held(77, "python3", None),), use=Use.HELD)
    unseen, ill, bare = chip(2, use=Use.HELD), chip(3, health="Alarm"), Chip(name="d802")
    found = seats.seated(cards(far, held, chip(1), unseen, ill, bare), [], "ascend_venv")
    assert [one.number for one in found if one.taken is None] == [1]
    said = [str(one.taken) for one in found if one.taken is not None]
    assert "python3 (PID 77)" in said[0]
    assert "cannot be seen" in said[1]
    assert "Alarm" in said[2]
    assert "gives no number" in said[3]


def test_what_a_server_holds_itself_is_free_for_it_alone(far: Host) -> None:
    own = server(far, npus(device_ids=(0,)))
    held = cards(far, chip(0, held=(Held(77, "vllm", None),), use=Use.HELD), own={77: own.name})
    assert seats.seated(held, [], "ascend_venv", own)[0].taken is None
    assert own.name in str(seats.seated(held, [], "ascend_venv")[0].taken)


def test_the_container_of_a_server_is_its_own(far: Host) -> None:
    own = server(far, npus(backend="ascend_docker", device_ids=(0,)))
    name = f"pilot-{own.spec.served_name}-{own.spec.port}"
    mine = cards(far, chip(0, held=(Held(77, "vllm", name),), use=Use.HELD))
    others = cards(far, chip(0, held=(Held(77, "vllm", "another"),), use=Use.HELD))
    assert seats.seated(mine, [], "ascend_docker", own)[0].taken is None
    assert "another" in str(seats.seated(others, [], "ascend_docker", own)[0].taken)


def test_numbers_are_of_the_device_file_for_a_container_and_logical_else(far: Host) -> None:
    one = cards(far, chip(0, logic_id=4, phy_id=6), several=True)[0]
    assert (seats.number(one, "ascend_docker"), seats.number(one, "ascend_venv")) == (6, 4)
    alone = cards(far, chip(3, logic_id=1))[0]
    assert seats.number(alone, "ascend_docker") == 3
    assert seats.number(cards(far, chip(3, logic_id=1), several=True)[0], "ascend_docker") is None


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A docker on PATH that has every image."""
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "docker").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "programs" / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}:/usr/bin:/bin")


def test_a_card_or_port_of_another_server_is_not_handed_out(data: Path, docker: None) -> None:
    far = inventory.this_machine()
    first = server(far, npus(backend="ascend_docker", device_ids=(0,)))
    second = server(far, npus(backend="ascend_docker", device_ids=(0, 1), port=8002))
    third = server(far, npus(backend="ascend_docker", device_ids=(1,), port=8003))
    fourth = server(far, npus(backend="ascend_docker", device_ids=(2,)))
    instances.begin_attempt(first.id, actor="ann")
    with pytest.raises(Conflict, match="NPU 0 belongs to the instance"):
        instances.begin_attempt(second.id, actor="li")
    with pytest.raises(Conflict, match="Port 8001 belongs to the instance"):
        instances.begin_attempt(fourth.id, actor="li")
    assert {instances.instance(one.id).state for one in (second, fourth)} == {State.stopped}
    assert "PILOT_ATTEMPT" in instances.begin_attempt(third.id, actor="li").command
    found = seats.seated(cards(far, chip(0), chip(1)), seats.claimed(far.id), "ascend_docker")
    assert [one.taken is None for one in found] == [False, False]
    assert [one.id for one in seats.claimed(far.id, first)] == [third.id]


STARTS = """
import sys
from console.errors import Conflict
from console.serving import instances

print("ready", flush=True)
for line in sys.stdin:
    try:
        instances.begin_attempt(int(line), actor=sys.argv[1])
        print("has it", flush=True)
    except Conflict as refused:
        print(refused.text, flush=True)
"""


def test_of_two_operators_at_the_same_moment_one_gets_the_card(data: Path, docker: None) -> None:
    """Two processes, each with a server for the same card, told to start it at once; ten times."""
    host = inventory.this_machine()
    words = [sys.executable, "-c", STARTS]
    both = [subprocess.Popen([*words, who], stdin=-1, stdout=-1, text=True, cwd=ROOT) for who in ("ann", "li")]
    with both[0], both[1]:
        pairs = [(one.stdin, one.stdout) for one in both]
        assert all(tell is not None and hear is not None and hear.readline() for tell, hear in pairs)
        for number in range(10):
            spec = npus(backend="ascend_docker", device_ids=(number,), port=8100 + 2 * number)
            asked = [server(host, spec), server(host, replace(spec, port=spec.port + 1))]
            for (tell, _), one in zip(pairs, asked, strict=True):
                print(one.id, file=tell, flush=True)
            said = [hear.readline().strip() for _, hear in pairs if hear is not None]
            assert said.count("has it") == 1, said
            assert any(f"NPU {number} belongs to the instance smol" in one for one in said), said
            assert sorted(instances.instance(one.id).attempt for one in asked) == [0, 1]
        for tell, _ in pairs:
            assert tell is not None
            tell.close()


MAP = """\
    NPU ID    Chip ID    Chip Logic ID    Chip Phy-ID    Chip Name
    0         0          0                4              Ascend910
    0         1          1                5              Ascend910
"""


def test_one_card_has_different_numbers_for_the_two_backends(far: Host) -> None:
    kept.keep(far.id, [Raw("npu_list", LIST, 0, 0.1), Raw("npu_map", MAP, 0, 0.1)], 1.0, actor="ann")
    known = numbering.numbers(far.id)
    plain = npus(device_ids=(1,))
    inside = replace(plain, backend="ascend_docker", device_ids=(5,))
    assert known.chips(plain) == known.chips(inside) == {(0, 1)}
    assert known.chips(replace(inside, device_ids=(4,))) == {(0, 0)}
    assert known.chips(replace(plain, device_ids=())) == {(0, 0), (0, 1)}, "none named: every card"
    assert known.chips(replace(inside, device_ids=(1,))) == {1}, "not known"
    assert numbering.Numbers().chips(plain) == numbering.Numbers().chips(replace(inside, device_ids=(1,))) == {1}
    assert known.chips(replace(plain, backend="local_cpu")) == frozenset()


def test_cards_that_are_not_to_be_had_are_refused_with_those_that_are(far: Host) -> None:
    held = chip(0, held=(Held(77, "python3", None),), use=Use.HELD)
    found = seats.seated(cards(far, held, chip(1)), [], "ascend_venv")
    for asked, why in ((npus(device_ids=(0,)), "python3"), (npus(device_ids=(7,)), "number 7"),
                       (npus(device_ids=(1,), tensor_parallel=2), "2 processes")):  # fmt: skip
        refusal = seats.refusals(found, asked)[0]
        assert why in str(refusal.reason)
        assert str(refusal.instead) == "Cards that are free: 1."
    assert seats.refusals(found, npus(device_ids=(1,))) == []


def test_the_device_that_is_fullest_decides(far: Host) -> None:
    found = seats.seated(cards(far, chip(0), chip(1, hbm_used_bytes=5 * GIB)), [], "ascend_venv")
    assert npu_defaults.device(found).free == 27 * GIB
    unknown = seats.seated(cards(far, chip(0, hbm_total_bytes=None)), [], "ascend_venv")
    with pytest.raises(InvalidInput, match="how much memory"):
        npu_defaults.device(unknown)


def test_what_is_installed_says_the_release_and_not_what_the_host_is(far: Host) -> None:
    kept.keep(far.id, [Raw("npu_pci", "0000:c1:00.0 0x19e5 0xd802 0x120000\n", 0, 0.1)], 1.0, actor="ann")
    for backend, words, release in (
        ("ascend_venv", "vllm-ascend 0.23.0, CANN 9.1.0, Python 3.12", "0.23.0"),
        ("ascend_docker", "quay.io/ascend/vllm-ascend:v0.23.0.post1-openeuler", "0.23.0.post1"),
    ):
        assert installed.release(far, backend) is None
        kept.keep(far.id, [Raw(f"runtime_{backend}", f"{words}\n", 0, 0.1)], 2.0, actor="ann")
        assert installed.release(far, backend) == release
        assert npu_defaults.release_on(far, backend) == release
    kept.keep(far.id, [Raw("runtime_ascend_venv", "torch differs\n", 1, 0.1)], 3.0, actor="ann")
    assert installed.release(far, "ascend_venv") is None
    last = kept.last(far.id)
    assert last is not None
    assert set(last.raws) == {"npu_pci"}, "a look at a runtime is no probe of the host"
