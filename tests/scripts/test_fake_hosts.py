"""The console's own probe of every rehearsal host, judged: each fails in what it plays and in nothing else."""

from pathlib import Path

import pytest
import yaml

from console.catalog import scenarios
from console.catalog.profiles import profile
from console.checks import Judged, judge
from console.facts.cards import Cards, Ports
from console.facts.holders import Containers, Docker, Holders
from console.facts.npu_presence import NpuTool
from tests.scripts.rehearsed import Host, probed, why_not

inside = pytest.mark.skipif(bool(why_not()), reason=why_not())

PLAYS = {
    "two-healthy-910b4": ("ascend-two-cards", set()),
    "eight-910b3": ("ascend-multi-node", set()),
    "a3": ("ascend-two-cards", set()),
    "too-hot": ("ascend-two-cards", {"card_temperature"}),
    "driver-missing": ("ascend-two-cards", {"cards_in_npu_smi", "driver_installed"}),
    "cann-driver-conflict": ("ascend-two-cards", {"driver_and_cann", "installed_parts_fit"}),
    "held-by-container": ("ascend-two-cards", {"cards_free"}),
    "roce-down": ("ascend-multi-node", {"npu_links", "npu_net_health"}),
    "disk-full": ("ascend-two-cards", {"room_for_cann", "room_in_work_folder"}),
    "no-sudo": ("ascend-two-cards", set()),
}
"""Scenario -> the profile that shows it, and the checks that fail."""
OF_THE_MACHINE = {"python_with_venv", "port_is_free", "open_files", "locked_memory", "name_servers", "kernel_settings"}
"""Checks of what a rehearsal host shares with the machine underneath."""
UNANSWERED = {
    "no-sudo": {"memory_modules", "npu_ports", "docker", "containers"},
}
"""Facts that stay unknown on purpose: this login may not see them."""


def test_the_catalog_says_the_same() -> None:
    entries = yaml.safe_load(scenarios.FILE.read_text())["scenarios"]
    assert {one["id"]: (one["profile"], set(one["fails"])) for one in entries} == PLAYS


@inside
@pytest.mark.parametrize("name", PLAYS)
def test_a_scenario_fails_in_what_it_plays_and_in_nothing_else(name: str, tmp_path: Path) -> None:
    facts = probed(Host(tmp_path, name))
    assert set(facts.reasons) == UNANSWERED.get(name, set())
    profile_id, wanted = PLAYS[name]
    verdicts = {one.name: one for one in judge(facts, profile(profile_id)) if one.name not in OF_THE_MACHINE}
    assert _at("fail", verdicts) == wanted
    if name in ("two-healthy-910b4", "eight-910b3"):
        assert _at("warn", verdicts) <= {"cann_complete"}
        assert _at("unknown", verdicts) == set()
    _shows(name, facts.values)


def _at(level: str, verdicts: dict[str, Judged]) -> set[str]:
    return {name for name, one in verdicts.items() if one.verdict.level == level}


def _shows(name: str, values: dict[str, object]) -> None:
    """The figures behind the verdicts."""
    tool, docker = values["npu_tool"], values.get("docker")
    assert isinstance(tool, NpuTool)
    if name == "driver-missing":
        assert not tool.installed
        return
    assert tool.info is not None
    assert len(tool.info.devices) == {"a3": 16, "eight-910b3": 8, "roce-down": 8}.get(name, 2)
    health, ports, holders = values["npu_health"], values.get("npu_ports"), values["npu_holders"]
    assert isinstance(health, Cards)
    assert isinstance(holders, Holders)
    if name == "too-hot":
        assert health.answers[1].values["error_codes"] == ["0x000E003B"]
    if name == "roce-down":
        assert isinstance(ports, Ports)
        assert [card for card, port in ports.ports.items() if port.link != "UP"] == [3]
    if name == "held-by-container":
        containers = values["containers"]
        assert isinstance(containers, Containers)
        (process,) = tool.info.processes
        named = {one.pid: one for one in holders.holders}
        assert containers.names[named[process.pid or 0].container or ""] == "team-b-llm"
        assert process.mem_mb == 21835
    else:
        assert (tool.info.processes, holders.holders) == ((), ())
    if name != "no-sudo":
        assert isinstance(docker, Docker)
        assert docker.has_ascend


@inside
def test_a_host_boots_again_as_it_was_left(tmp_path: Path) -> None:
    host = Host(tmp_path, "two-healthy-910b4")
    host.run("touch /etc/kept /usr/local/kept; apt-get remove -y git >/dev/null; usermod -aG HwHiAiUser HwHiAiUser")
    said = host.run("ls /etc/kept /usr/local/kept; dpkg-query -W git; npu-smi info -l | grep -c 'NPU ID'", code=None)
    assert said.split("\n")[:2] == ["/etc/kept", "/usr/local/kept"]
    assert "no packages found matching git" in said
    assert "\n2\n" in said


@inside
def test_another_scenario_needs_another_host(tmp_path: Path) -> None:
    Host(tmp_path, "two-healthy-910b4").run("true")
    assert "a new scenario needs a new host" in Host(tmp_path, "a3").run("true", code=1)
