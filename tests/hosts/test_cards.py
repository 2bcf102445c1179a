"""The cards of all hosts, put together from what real tools printed; what is not known has a reason and is no zero."""

import csv
import io
import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from console.__main__ import main
from console.facts.chips import VALUES, Chip, chips_of, without_chips
from console.facts.holding import Use
from console.facts.probe import Facts
from console.hosts import card_columns, cards, inventory
from console.hosts.card_columns import COLUMNS
from console.hosts.cards import Card
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.records import writing
from console.sheet import sheet
from console.text import render
from db import models
from tests.checks.composed import HELD, HOST, host, sample
from tests.pages import seed

IDLE_MB = 4000
GIB = 2**30
BOX = "0f3c" * 16
A3 = sample("npu_smi_info_a3_25.3.rc1_busy_hot")
A3_BUS = "0000:9d:00.0 0x19e5 0xd803 0x120000\n0000:9f:00.0 0x19e5 0xd803 0x120000\n"
SILENT = {"npu_tool": sample("npu_smi_err_8005"), "npu_board": "absent", "npu_health": "absent"}
INFOS = sorted(path.stem for path in (Path(__file__).parents[1] / "samples/host").glob("npu_smi_info_*.txt"))


def of(facts: Facts) -> tuple[Chip, ...]:
    return chips_of(facts, IDLE_MB)


def keep(on: Host, texts: Mapping[str, str]) -> None:
    """As if the host had just answered so."""
    with writing() as session:
        row = models.Probe(host_id=on.id, actor="me", started=time.time(), ended=time.time())
        row.observations = [
            models.Observation(name=name, text=text, code=0, seconds=0.1, timed_out=False)
            for name, text in texts.items()
        ]
        session.add(row)


@pytest.fixture
def two(data: Path) -> list[Host]:
    """A host with two cards, of which one is held, and one that does not answer for its card."""
    inventory.this_machine()
    first = inventory.add_host("npu-1", Reach("10.0.0.5"), tags=["rack-1"], actor="me")
    second = inventory.add_host("npu-2", Reach("10.0.0.6"), actor="me")
    keep(first, {**HOST, "npu_tool": HELD, "npu_holders": f"all yes\nholder 1406630 0 {BOX} mindie_llm_back\n"})
    keep(second, {**HOST, **SILENT, "npu_pci": "0000:c1:00.0 0x19e5 0xd802 0x120000\n", "driver_version": "absent"})
    return inventory.hosts()


def test_two_cards_of_which_one_is_held() -> None:
    first, second = of(
        host(
            npu_tool=HELD,
            npu_map=sample("npu_smi_m_910b3"),
            npu_holders=f"all yes\nholder 1406630 0 {BOX} mindie_llm_back\nat 1406630 /data/x\n"
            "holder 60575 - - python\n",
            containers=f"begin\n{BOX} llm image\n",
        )
    )
    assert (first.npu, first.chip, first.name, first.bus_id) == (0, 0, "910B4", "0000:C1:00.0")
    assert (first.hbm_used_bytes, first.hbm_total_bytes) == (26838 * 2**20, 32 * GIB)
    assert (first.aicore_pct, first.temp_c, first.power_w, first.health) == (0, 30, 88.2, "OK")
    assert (first.driver, first.logic_id, second.logic_id, first.phy_id) == ("25.5.1", 0, 1, None)
    assert [(one.pid, one.name, one.container, one.folder) for one in first.held] == [
        (1406630, "mindie_llm_back", "llm", "/data/x"),
        (60575, "python", None, None),
    ]
    assert (first.use, second.use, second.held) == (Use.HELD, Use.FREE, ())
    assert set(first.why) == {"phy_id"}


def test_an_a3_has_two_dies_and_one_power() -> None:
    first, second = of(host(npu_tool=A3, npu_pci=A3_BUS, npu_holders="all no\n"))
    assert [(one.npu, one.chip, one.phy_id) for one in (first, second)] == [(0, 0, 0), (0, 1, 1)]
    assert (first.power_w, second.power_w) == (502.6, None)
    assert "whole NPU" in str(second.why["power_w"])
    assert (first.aicore_pct, first.temp_c, first.hbm_used_bytes) == (61, 75, 47755 * 2**20)
    assert (first.use, second.use) == (Use.HELD, Use.UNKNOWN)
    assert "cannot be seen" in str(first.why["held"])
    assert "only root" in str(second.why["held"])


def test_a_card_that_only_the_bus_shows_is_a_row_with_its_reason() -> None:
    chips = of(host(npu_tool=sample("npu_smi_err_8005")))
    assert [(one.npu, one.bus_id, one.name) for one in chips] == [
        (None, "0000:C1:00.0", "Ascend 910B (A2)"),
        (None, "0000:C2:00.0", "Ascend 910B (A2)"),
    ]
    assert chips[0].use == Use.UNKNOWN
    assert all("-8005" in str(chips[0].why[name]) for name in ("npu", "hbm_total_bytes", "aicore_pct", "held"))
    three = of(host(npu_pci=HOST["npu_pci"] + "0000:81:00.0 0x19e5 0xd802 0x120000\n"))
    assert [one.npu for one in three] == [0, 1, None]
    assert "npu-smi does not list it" in str(three[2].why["health"])


def test_without_a_bus_id_no_card_is_counted_twice() -> None:
    chips = of(host(npu_tool=HOST["npu_tool"].replace("0000:C1:00.0", "NA          ")))
    assert [one.npu for one in chips] == [0, 1]
    assert "npu-smi shows no value" in str(chips[0].why["bus_id"])


def test_the_list_of_npus_stands_in_for_a_table_that_does_not_come() -> None:
    listed = "Total Count : 1\n\nNPU ID : 3\nProduct Name : IT21\nChip Count : 2\n"
    chips = of(host(npu_tool="timeout", npu_list=listed, npu_pci=""))
    assert [(one.npu, one.chip, one.hbm_total_bytes) for one in chips] == [(3, 0, None), (3, 1, None)]
    assert "did not finish within 20 s" in str(chips[0].why["hbm_total_bytes"])


def test_what_the_table_lacks_is_taken_from_the_queries_about_one_card() -> None:
    table = HOST["npu_tool"].replace("88.2        30", "NA          NA").replace("| OK     ", "| NA     ", 1)
    asked = "NPU ID : 0\nAicore Usage Rate(%) : 7\nTemperature(C) : 41\nNPU Real-time Power(W) : 90.5\n"
    health = "NPU ID : 0\nHealth : Alarm\nError Code : 80E01801\n"
    first, _ = of(host(npu_tool=table, npu_common=f"== card 0\n{asked}", npu_health=f"== card 0\n{health}"))
    assert (first.temp_c, first.power_w, first.health, first.errors) == (41, 90.5, "Alarm", ("80E01801",))


@pytest.mark.parametrize("name", INFOS)
def test_every_table_that_is_known_gives_rows_without_invented_values(name: str) -> None:
    facts = host(npu_tool=sample(name), npu_pci="", npu_health="absent", npu_map="absent", driver_version="absent")
    chips = of(facts)
    listed = facts.values["npu_tool"].info.devices  # type: ignore[attr-defined]
    assert len(chips) == len(listed)
    for chip, device in zip(chips, listed, strict=True):
        assert (chip.npu, chip.chip, chip.temp_c) == (device.npu, device.chip, device.temp_c)
        assert (chip.hbm_total_bytes is None) == (not device.hbm_total_mb)
        missing = {field for field in VALUES if getattr(chip, field) is None}
        assert missing == set(chip.why) - {"held"}
        assert ("held" in chip.why) == (not chip.held and chip.use != Use.FREE)
        row = Card(seed_host(), 0.0, chip, several=True, instances={})
        assert [one.field for one in COLUMNS if one.shown(row) is None and one.field not in chip.why] == []


def seed_host() -> Host:
    return Host(1, "h", "ssh", "/data")


def test_a_chip_without_hbm_says_what_memory_it_has() -> None:
    chip = of(host(npu_tool=sample("npu_smi_info_310p3_25.5.1_two_cards"), npu_pci=""))[0]
    assert chip.hbm_total_bytes is None
    assert "has no HBM" in str(chip.why["hbm_total_bytes"])


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"npu_tool": "absent", "npu_pci": ""}, "No NPU is on its PCI bus."),
        ({"npu_tool": sample("npu_smi_err_not_found_bash"), "npu_pci": ""}, "not on the PATH"),
        ({"npu_tool": "timeout", "npu_pci": "timeout"}, "did not finish within 20 s"),
    ],
)
def test_a_host_without_a_card_says_why(changes: dict[str, str], why: str) -> None:
    facts = host(**changes)
    assert of(facts) == ()
    assert why in str(without_chips(facts))


def test_all_hosts_and_those_that_were_never_asked(two: list[Host]) -> None:
    found, bare = cards.cards(two)
    assert [(one.host.name, one.title) for one in found] == [("npu-1", "NPU 0"), ("npu-1", "NPU 1"), ("npu-2", "–")]
    assert [(one.host.name, one.time, str(one.why)) for one in bare] == [
        ("local", None, "This host was not asked yet.")
    ]
    assert str(found[0].holder(found[0].chip.held[0])) == f"mindie_llm_back (PID 1406630, container {BOX[:12]})"


def test_a_card_that_our_instance_holds_names_it(two: list[Host]) -> None:
    on = two[1]
    number = seed.instance(on, "deepseek", seed.State.ready)
    where = f"{on.work_folder}/instances/{number}/1"
    for folder, said in ((where, "instance deepseek (PID 60575)"), ("/srv/instances/1/1", "python (PID 60575)")):
        keep(on, {**HOST, "npu_tool": HELD, "npu_holders": f"all yes\nholder 60575 - - python\nat 60575 {folder}\n"})
        card = cards.cards([on])[0][0]
        assert said in [str(card.holder(one)) for one in card.chip.held]


def test_csv_has_plain_numbers_chinese_and_no_formulas(two: list[Host]) -> None:
    found, _ = cards.cards(two)
    written = card_columns.csv(found, lambda text: render(text, "zh"))
    assert written.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(written.decode("utf-8-sig"), newline="")))
    assert len(rows) == 4
    assert {len(row) for row in rows} == {18}
    assert rows[1][6:11] == ["26.21", "32.0", "0", "30", "88.2"]
    assert rows[3][6:11] == [""] * 5
    assert "-8005" in rows[3][-1]


def test_a_cell_of_a_sheet_is_never_a_formula() -> None:
    bad = ['=HYPERLINK("x")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "＝1"]
    written = sheet(["=head"], [[one] for one in bad]).decode("utf-8-sig")
    rows = [row[0] for row in csv.reader(io.StringIO(written, newline=""))]
    assert rows == [f"'{one}" for one in ["=head", *bad]]
    assert (
        sheet(["a"], [[-5], ["-5.2"], [None], ['x,"y"\nz']]) == b'\xef\xbb\xbfa\r\n-5\r\n-5.2\r\n""\r\n"x,""y""\nz"\r\n'
    )


def test_the_verb_lists_them(two: list[Host], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cards", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["host"], one["npu"], one["use"]) for one in told["cards"]] == [
        ("npu-1", 0, "held"),
        ("npu-1", 1, "free"),
        ("npu-2", None, "unknown"),
    ]
    assert told["cards"][0]["held_by"][0]["container"] == BOX[:12]
    assert told["without"][0]["host"] == "local"
    assert main(["cards", "npu-2"]) == 0
    shown = capsys.readouterr().out
    assert "– (1)" in shown
    assert "(1) npu-2: The NPU driver does not answer" in shown
    assert main(["cards", "nobody"]) == 2
