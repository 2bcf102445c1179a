"""What the simulated programs print is read by the console's parsers as exactly what the scenario says."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.catalog.scenarios import scenarios
from console.facts.disks import parse_disks
from console.facts.dmidecode import parse_dmidecode
from console.facts.hccn import parse_hccn_conf, parse_hccn_tool
from console.facts.lscpu import parse_lscpu
from console.facts.memory import parse_meminfo
from console.facts.nics import parse_ibv_devinfo
from console.facts.npu_presence import parse_npu_pci
from console.facts.npu_smi_info import parse_npu_smi_info
from console.facts.npu_smi_lists import parse_mapping, parse_npu_list, parse_watch
from console.facts.npu_smi_queries import parse_query
from console.facts.npu_smi_topo import parse_topo
from console.facts.os_release import parse_os_release
from console.facts.versions import parse_version_file
from tests.scripts.rehearsed import FAKE, SCENARIOS

sys.path.insert(0, str(FAKE))
import furnish  # type: ignore[import-not-found]
from pretend import cards, devices, hccn_tool, npu_query, npu_smi, npu_table, place, processor, versions

every_scenario = pytest.mark.parametrize("name", SCENARIOS)


def played(name: str) -> dict:
    return furnish.load(name)


def test_each_scenario_of_the_catalog_can_be_played() -> None:
    assert sorted(one.id for one in scenarios()) == SCENARIOS


@every_scenario
def test_the_table_shows_every_chip(name: str) -> None:
    scene = played(name)
    chips = cards.idle(scene, moment=1000.0)
    info = parse_npu_smi_info(npu_table.table("25.5.1", chips, scene["chip"].get("dies", 1) > 1))
    assert info.status == "ok"
    assert info.driver_version == info.tool_version == "25.5.1"
    assert info.process_table == "present"
    assert set(info.idle_npus) == {card["npu"] for card in scene["cards"]}
    wanted = [
        (card["npu"], index, card.get("health", "OK"), chip["temp"], chip["bus"], chip["hbm"], scene["chip"]["hbm_mb"])
        for card in scene["cards"]
        for index, chip in enumerate(card["chips"])
    ]
    shown = [
        (one.npu, one.chip, one.health, one.temp_c, one.bus_id, one.hbm_used_mb, one.hbm_total_mb)
        for one in info.devices
    ]
    assert shown == wanted
    assert {one.name for one in info.devices} == {scene["chip"]["name"]}
    powers = [one.power_w for one in info.devices if one.chip == 0]
    assert all(abs(power - card["power"]) <= 0.5 for power, card in zip(powers, scene["cards"], strict=True))
    assert all(one.power_w is None for one in info.devices if one.chip)


chip = st.builds(
    cards.Chip,
    npu=st.just(0),
    chip=st.just(0),
    node=st.just(0),
    name=st.sampled_from(["910B1", "910B4", "910B4-1", "Ascend910", "910B2C"]),
    health=st.sampled_from(["OK", "Warning", "Alarm", "Critical", "UNKNOWN"]),
    code=st.just("NA"),
    words=st.just("NA"),
    power_w=st.one_of(st.none(), st.floats(0, 999.9).map(lambda watts: round(watts, 1))),
    temp_c=st.integers(-20, 130),
    bus=st.sampled_from(["0000:C1:00.0", "0000:01:00.0"]),
    aicore_pct=st.integers(0, 100),
    hbm_used_mb=st.integers(0, 65536),
    hbm_total_mb=st.just(65536),
    processes=st.just(()),
)
process = st.builds(
    cards.Process,
    npu=st.just(0),
    chip=st.just(0),
    pid=st.integers(1, 4194304),
    name=st.sampled_from(["python", "VLLM::EngineCor", "VLLMWorker_TP0", "/usr/local/pyth"]),
    mem_mb=st.integers(0, 65536),
)


@given(
    chip,
    st.lists(process, max_size=3, unique_by=lambda one: one.pid),
    st.sampled_from(["24.1.rc2", "25.5.1", "26.0.rc1"]),
    st.booleans(),
)
def test_any_figures_come_through_the_table(one: cards.Chip, held: list, version: str, has_dies: bool) -> None:
    one.processes = tuple(held)
    info = parse_npu_smi_info(npu_table.table(version, [one], has_dies))
    (device,) = info.devices
    assert (device.name, device.health, device.power_w, device.temp_c) == (
        one.name,
        one.health,
        one.power_w,
        one.temp_c,
    )
    assert (device.aicore_pct, device.hbm_used_mb, device.phy_id) == (
        one.aicore_pct,
        one.hbm_used_mb,
        0 if has_dies else None,
    )
    assert [(p.pid, p.name, p.mem_mb) for p in info.processes] == [(p.pid, p.name, p.mem_mb) for p in held]
    assert info.idle_npus == (() if held else (0,))
    assert info.driver_version == version


@every_scenario
def test_lists_and_topology(name: str) -> None:
    scene = played(name)
    chips = cards.idle(scene)
    has_dies = scene["chip"].get("dies", 1) > 1
    listed = parse_npu_list(npu_query.listing(chips))
    assert (listed.total, listed.status) == (len(scene["cards"]), "ok")
    assert [one.chips for one in listed.npus] == [len(card["chips"]) for card in scene["cards"]]
    mapped = parse_mapping(npu_query.mapping(chips, has_dies))
    assert [(one.npu, one.chip, one.logic_id) for one in mapped.chips] == [
        (one.npu, one.chip, one.node) for one in chips
    ]
    topo = parse_topo(npu_query.topology(scene, chips))
    assert topo.npus == len(chips)
    assert bool(topo.affinity) is not has_dies


@every_scenario
@pytest.mark.parametrize("kind", npu_smi.QUERIES)
def test_queries(name: str, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scene = played(name)
    monkeypatch.setenv("REHEARSAL_ROOT", str(tmp_path))
    with place.changing("driver") as kept:
        kept |= {"running": "25.5.1", "running_firmware": "7.8.0.6.201"}
    chips = cards.idle(scene, moment=1000.0)
    own = [one for one in chips if one.npu == chips[-1].npu]
    text = npu_smi._answer(kind, scene, own, is_chip=False)
    if kind == "temp":
        assert str(own[0].temp_c) in text
        return
    answer = parse_query(kind, text)
    assert answer.unread == ()
    first, one = answer.chips[0], own[0]
    wanted = {
        "board": {"software": "25.5.1", "firmware": "7.8.0.6.201", "bus_id": one.bus, "chip_count": len(own)},
        "common": {"temp_c": one.temp_c, "aicore_pct": 0, "hbm_pct": one.hbm_pct, "power_w": one.power_w},
        "ecc": {"hbm_double_bit": 0, "hbm_single_bit_total": 0},
        "health": {"health": one.health, "error_codes": [] if one.code == "NA" else [one.code]},
        "memory": {"hbm_total_mb": one.hbm_total_mb, "hbm_temp_c": one.temp_c + 2, "ddr_total_mb": 0},
        "power": {"power_w": one.power_w},
        "usages": {"hbm_total_mb": one.hbm_total_mb, "hbm_pct": one.hbm_pct, "aicore_pct": 0},
    }[kind]
    assert {key: first[key] for key in wanted} == wanted
    assert first["npu"] == one.npu
    assert kind == "board" or len(answer.chips) == len(own)


@every_scenario
def test_the_chip_of_a_board_is_named_as_the_plugin_reads_it(name: str) -> None:
    scene = played(name)
    text = npu_query.lines(npu_query.board_of_chip(scene, {"running_firmware": "7.8.0.6.201"}, cards.idle(scene)[0]))
    values = parse_query("board", text).values
    soc = f"{values['chip_type'] or ''}{values['chip_name']}".lower()
    if not values["chip_type"]:
        soc = f"{values['chip_name']}_{values['npu_name']}".lower()
    assert soc in {"ascend910b4", "ascend910b3", "ascend910_9391"}


def test_the_running_view() -> None:
    chips = cards.idle(played("a3"))
    watch = parse_watch("\n".join([npu_query.watch_head(), *map(npu_query.watch_row, chips)]))
    assert watch.samples == 16
    assert watch.unread == ()
    assert watch.first.temp_c == chips[0].temp_c


@every_scenario
def test_the_machine(name: str) -> None:
    scene = played(name)
    cpu = parse_lscpu(processor.lscpu(scene))
    assert (cpu.sockets, cpu.cores_per_socket, cpu.max_mhz) == (
        scene["cpu"]["sockets"],
        scene["cpu"]["cores_per_socket"],
        scene["cpu"]["max_mhz"],
    )
    memory = parse_meminfo(processor.meminfo(scene))
    assert (memory.mem_total_kb, memory.hugepages_total, memory.hugepage_kb) == (scene["memory"]["total_kb"], 0, 2048)
    modules, board = scene["memory"]["module"], parse_dmidecode(devices.memory(scene))
    assert (board.dimms, board.total_gb) == (modules["count"], modules["count"] * modules["size_gb"])
    assert board.correction == modules["ecc"]
    disks = parse_disks(devices._lsblk(scene, ["-o", "NAME,SIZE,TYPE,FSTYPE,MOUNTPOINT"]))
    assert {one.node for one in disks.disks} == {f"/dev/{disk['name']}" for disk in scene["disks"]}
    assert parse_os_release(scene["system"]["os_release"]).id == scene["system"]["id"]
    ports = [port for card in parse_ibv_devinfo(devices._ibv_devinfo(scene, [])).hcas for port in card.ports]
    assert {port.state for port in ports} == {"PORT_ACTIVE"}


@every_scenario
def test_cards_are_on_the_bus(name: str) -> None:
    scene = played(name)
    found = parse_npu_pci(devices._lspci(scene, ["-Dnn", "-d", "19e5:"]))
    assert [one.bus_id for one in found] == devices.chips(scene)
    assert {one.device_id for one in found} == {scene["chip"]["pci"]}


def test_ports_of_npus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REHEARSAL_ROOT", str(tmp_path))
    scene = played("roce-down")
    ports = hccn_tool.ports(scene)
    for node, port in ports.items():
        said = "\n".join(
            hccn_tool._answer(node, f"-{query}", port, []) for query in ("ip", "link", "net_health", "tls")
        )
        read = parse_hccn_tool(said)
        assert (read.ip, read.link, read.tls_enabled) == (port["address"], port["link"], False)
        assert read.healthy is (port["link"] == "UP")
    assert [node for node, port in ports.items() if port["link"] != "UP"] == ["3"]
    assert len(parse_hccn_conf(hccn_tool.conf(scene)).devices) == 8
    ping = parse_hccn_tool(hccn_tool._answer("3", "-ping", ports["3"], ["-g", "address", "192.0.2.99"])).pings[0]
    assert (ping.sent, ping.received, ping.loss_pct) == (3, 0, 100.0)


@pytest.mark.parametrize("version", ["24.1.rc2", "25.0.rc1.1", "25.5.1", "26.0.rc1"])
def test_version_files_of_the_driver(version: str) -> None:
    driver = parse_version_file(versions.driver_info(version))
    assert (driver.driver, driver.package_version) == (version, version)
    assert driver.compatible_fw == versions.firmware_range(version)
    own = versions.FIRMWARE_OF[versions.series(version)]
    assert parse_version_file(versions.firmware_info(own, version)).firmware == own
    info = parse_version_file(versions.install_info({"driver": version, "firmware": own, "for_all": True}))
    assert (info.driver_path, info.group, info.for_all, info.complete) == (
        "/usr/local/Ascend",
        "HwHiAiUser",
        True,
        True,
    )


@pytest.mark.parametrize("version", ["8.1.RC1", "8.5.0", "9.1.0"])
def test_version_files_of_cann(version: str) -> None:
    toolkit = parse_version_file(versions.package_info("Ascend-cann-toolkit", version, "aarch64", "/x"))
    assert (toolkit.package, toolkit.version, toolkit.arch) == ("Ascend-cann-toolkit", version, "aarch64")
    nnal = parse_version_file(versions.nnal_info(version, "aarch64"))
    assert (nnal.package, nnal.version, nnal.arch) == ("Ascend-cann-atb", version, "aarch64")
    for has in (True, False):
        config = parse_version_file(versions.running_versions(version, has_kernels=has))
        assert (config.cann, config.kernels_installed) == (version, has)
