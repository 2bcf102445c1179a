"""NPU outputs in forms that a collected sample does not show yet: odd names, sick cards, several chips, errors."""

from typing import Any

import pytest

from console.facts.kinds import parse

HEAD = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.5.1                   Version: 25.5.1                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
"""
PROCESSES = """\
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
"""
WIDE = "| NPU     Chip  | Process id    | Process name       | Process memory(MB)    | Process id in container |\n"


def info(text: str) -> Any:
    return parse("npu_smi_info", text)


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("python3 -m vllm", "python3 -m vllm"),
        ("a|b", "a|b"),
        ("||", "||"),
        ("", ""),
        ("12345", "12345"),
        ("ray::Worker", "ray::Worker"),
    ],
)
def test_process_names_of_all_sorts(cell: str, name: str) -> None:
    found = info(
        HEAD + PROCESSES + f"| 0       0                 | 4711          | {cell:<24} | 512                     |\n"
    )
    assert [(one["pid"], one["name"], one["mem_mb"]) for one in found["processes"]] == [(4711, name, 512)]


def test_process_ids_inside_a_container() -> None:
    rows = "| 0   0 | 4711 | a|b | 512 | 77 |\n| 0   1 | 4712 | python | 513 | NA |\n"
    found = info(HEAD + WIDE + rows)["processes"]
    assert [(one["name"], one["mem_mb"], one["pid_in_container"]) for one in found] == [
        ("a|b", 512, 77),
        ("python", 513, None),
    ]


def card(
    npu: int, health: str = "OK", power: str = "90.1", bus: str = "0000:C1:00.0", hbm: str = "3373 / 65536"
) -> str:
    return f"| {npu}     910B3 | {health} | {power}  45   0 / 0 |\n| 0   | {bus} | 0   0 / 0   {hbm} |\n"


def test_a_card_that_does_not_answer_keeps_its_place() -> None:
    found = info(HEAD + card(0) + card(3, "Critical", "NA", "NA", "NA / NA"))["devices"]
    assert found[1] | {"npu": 3, "health": "Critical", "power_w": None, "bus_id": None, "hbm_used_mb": None} == found[1]


def test_columns_that_nobody_knows_do_not_shift_the_others() -> None:
    head = HEAD.replace("Temp(C)  ", "Temp(C)  Fan(%)")
    found = info(head + card(0).replace("  45 ", "  45  61 "))["devices"][0]
    assert (found["temp_c"], found["power_w"], found["hugepages_used"]) == (45, 90.1, 0)


def test_a_row_that_fits_no_header_is_named_and_not_guessed() -> None:
    found = info(HEAD + card(0).replace("90.1  45", "90.1") + card(1))
    assert found["status"] == "partial"
    assert found["incomplete_npus"] == [0]
    assert "90.1" in found["unread"][0]
    assert (found["devices"][0]["power_w"], found["devices"][0]["temp_c"]) == (None, None)


def test_a_row_that_is_cut_is_named() -> None:
    text = HEAD + card(0) + card(1)
    found = info(text[: text.rindex("65536") + 2])
    assert (found["status"], found["incomplete_npus"]) == ("partial", [1])
    assert (found["devices"][1]["hbm_total_mb"], found["devices"][1]["bus_id"]) == (None, "0000:C1:00.0")
    assert found["unread"][0].endswith("3373 / 65")


def test_a_table_that_begins_in_its_middle() -> None:
    text = "| 0   | 0000:C1:00.0 | 0   0 / 0   3373 / 65536 |\n" + card(1)
    found = info(text)
    assert found["status"] == "partial"
    assert [(one["npu"], one["hbm_total_mb"]) for one in found["devices"]] == [(1, 65536)]
    assert len(found["unread"]) == 1


def test_the_last_complete_capture_of_several_counts() -> None:
    first, second = HEAD + card(0, power="80.0"), HEAD + card(0, power="99.9")
    assert info(first + second)["devices"][0]["power_w"] == 99.9
    assert info(first + second[:-30])["devices"][0]["power_w"] == 80.0


def test_a_row_that_a_narrow_terminal_broke_in_two() -> None:
    text = card(0)
    assert info(HEAD + text[:30] + "\n" + text[30:]) == info(HEAD + text)


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("dcmi module initialize failed. ret is -8005", "driver_not_ready", -8005),
        ("DrvMngGetConsoleLogLevel failed. (ret=4)\ndcmi init failed. ret is -8005", "driver_not_ready", -8005),
        ("dcmi get card list failed. ret is -8002", "permission_denied", -8002),
        ("Failed to query. ret=-8006", "timeout", -8006),
        ("sh: 1: npu-smi: not found", "tool_missing", None),
        ("-bash: npu-smi：未找到命令", "tool_missing", None),
        ("sudo: npu-smi: command not found", "tool_missing", None),
        ("npu-smi: error while loading shared libraries: libc_sec.so: cannot open shared object file: "
         "No such file or directory", "library_missing", None),
        ("bash: /usr/local/bin/npu-smi: Permission denied", "permission_denied", None),
        ("bash: /usr/local/bin/npu-smi: No such file or directory", "missing", None),
        ("This device does not support querying topo.", "not_supported_here", None),
        ("Error: the -i parameter is wrong", "failed", None),
        ("", "empty", None),
        ("hello world", "unreadable", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["npu_smi_info", "npu_smi_l", "npu_smi_m", "npu_smi_t_topo", "npu_smi_t_board",
                                  "npu_smi_t_usages", "npu_smi_watch", "npu_smi_error", "hccn_tool"])  # fmt: skip
def test_errors_are_told_apart(text: str, kind: str, code: int | None, name: str) -> None:
    found = parse(name, text)
    assert (found["status"], found["error_kind"], found["code"]) == ("error", kind, code)
    assert found["message"]


def test_two_chips_in_one_answer() -> None:
    block = "\tDDR Capacity(MB) : 0\n\tHBM Capacity(MB) : {}\n\tHBM Usage Rate(%) : {}\n\tChip ID : {}\n"
    found = parse(
        "npu_smi_t_usages", "\tNPU ID : 3\n\tChip Count : 2\n\n" + block.format(65536, 4, 0) + block.format(65536, 9, 1)
    )
    assert [(one["npu"], one["chip"], one["hbm_pct"]) for one in found["chips"]] == [(3, 0, 4), (3, 1, 9)]  # type: ignore[attr-defined]
    first = "\tNPU ID : 3\n" + "".join(f"\tChip ID : {chip}\n\tHBM Usage Rate(%) : {chip + 5}\n" for chip in (0, 1))
    chips: Any = parse("npu_smi_t_usages", first)["chips"]
    assert [(one["chip"], one["hbm_pct"]) for one in chips] == [(0, 5), (1, 6)]


def test_health_of_a_sick_card() -> None:
    found = parse("npu_smi_t_health", "NPU ID : 0\nHealth Status : Alarm\nError Code : 0x80E01801, 80CD8008\n")
    assert (found["health"], found["error_codes"]) == ("Alarm", ["0x80E01801", "80CD8008"])
    assert parse("npu_smi_t_health", "Health : OK\n")["error_codes"] is None


def test_network_answers_of_npus_that_are_not_the_usual_ones() -> None:
    assert parse("hccn_tool", "net health status: Socket fail")["healthy"] is False
    assert parse("hccn_tool", "link status: UP\nlink status: DOWN\n")["link"] is None
    assert parse("hccn_tool", "link status: UP\nlink status: DOWN\n")["links"] == ["UP", "DOWN"]
    assert parse("hccn_tool", "net health status: Success\nnet health status: Init\n")["healthy"] is True
    assert parse("hccn_tool", "default gateway:192.0.2.1, Iface:eth0")["default_gateway"] == "192.0.2.1"
    found = parse("hccn_tool", "packet statistics:\nmac_tx_total_pkt_num:12\nmac_rx_bad_pkt_num:0\n")
    assert (found["status"], found["values"]) == ("ok", {"mac_tx_total_pkt_num": "12", "mac_rx_bad_pkt_num": "0"})
    assert parse("hccn_tool", "hccn_tool is busy, please try again later")["error_kind"] == "device_busy"


def test_a_row_nobody_can_read_does_not_lend_its_other_half_to_the_card_before_it() -> None:
    rows = """\
1     910B4                Warning        91.2        95                0    / 0
0                          0000:01:00.0   0           0    / 0          ? / 32768
2     910B4                Critical       91.2        ??                0/0
0                          0000:02:00.0   0           0 / 0             2871/32768
"""
    found = info(rows + PROCESSES.replace("|", " ") + "No running processes found in NPU 1\n")
    assert found["status"] == "partial"
    assert [(one["npu"], one["bus_id"], one["hbm_used_mb"]) for one in found["devices"]] == [(1, None, None)]
    assert len(found["unread"]) == 3


def test_full_width_bars_and_colons_make_no_card_of_their_own() -> None:
    row = "| 0     910B4               | OK            | 91.2        45                0    / 0             |\n"
    chip = "| 0                         | 0000:C1:00.0  | 0           0    / 0          2871 / 32768         |\n"
    text = HEAD + row + chip
    assert info(text.replace("|", "｜").replace(":", "：").replace("(", "（").replace(")", "）")) == info(text)


def test_what_ssh_warns_of_is_no_warning_of_npu_smi() -> None:
    said = "Warning: Permanently added '192.0.2.1' (ED25519) to the list of known hosts.\n"
    card = "| 0     910B4               | OK            | 91.2        45                0    / 0             |\n"
    assert info(said + HEAD + card)["warnings"] == []
