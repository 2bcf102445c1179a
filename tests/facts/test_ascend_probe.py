"""The questions for a host with NPUs run in real shells, here and with programs in the place of the vendor's tools."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from console.facts.ascend import FACTS
from console.facts.cards import Cards, Ports
from console.facts.fact import Fact
from console.facts.holders import Holders
from console.facts.npu_presence import NpuTool
from console.facts.packages import Packages
from console.facts.probe import Facts, Raw, probe_script, read, split
from console.facts.versions import VersionFile
from console.text import render

TOKEN = "0123456789abcdef0123456789abcdef"
SHELLS = [shell for shell in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(shell[0])]
SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "host"
SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""As a host has it: no Python that a wrapper starts slowly."""
BY_NAME = {fact.name: fact for fact in FACTS}


def ask(
    facts: list[Fact], shell: list[str] | None = None, *, folder: str = "/nowhere/x", **environment: str
) -> tuple[Facts, dict[str, Raw]]:
    script = probe_script(facts, TOKEN, {"PILOT_FOLDER": folder, "PILOT_PORT": "8000"})
    done = subprocess.run(
        shell or ["sh"],
        input=script,
        capture_output=True,
        text=True,
        timeout=90,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    raws = split(done.stdout, TOKEN)
    return read(raws, facts), raws


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_a_host_without_npus_answers_every_question(shell: list[str], tmp_path: Path) -> None:
    facts, raws = ask(FACTS, shell, TMPDIR=str(tmp_path), PATH=SYSTEM)
    assert {fact.name for fact in FACTS} <= set(raws)
    assert not [name for name, raw in raws.items() if raw.timed_out or raw.truncated]
    assert list(tmp_path.iterdir()) == []
    unread = {name: render(why, "en") for name, why in facts.reasons.items()}
    assert not [why for why in unread.values() if "could not be" in why], unread
    assert set(unread) <= {"memory_modules", "disks", "docker", "containers"}, unread


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_every_command_is_valid_in_every_shell(shell: list[str]) -> None:
    for fact in FACTS:
        subprocess.run([*shell, "-n"], input=fact.command, text=True, check=True)


@pytest.mark.parametrize("name", BY_NAME)
def test_no_command_can_change_the_host(name: str) -> None:
    """No word that writes, installs, sets or starts, and no output into a file."""
    command = BY_NAME[name].command
    plain = command.replace("2>/dev/null", "").replace("2>&1", "").replace(">/dev/null", "").replace("%.0f >", "")
    assert ">" not in plain.replace("<=", "").replace("-> ", ""), plain
    words = set(command.replace(";", " ").replace("(", " ").split())
    assert not words & {
        "rm",
        "mv",
        "cp",
        "tee",
        "mkdir",
        "touch",
        "chmod",
        "chown",
        "kill",
        "mount",
        "modprobe",
        "-s",
        "set",
    }


def program(folder: Path, name: str, body: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


NPU_SMI = """
case "$*" in
  "info -l") printf 'Total Count : 2\\n\\nNPU ID : 0\\nChip Count : 1\\n\\nNPU ID : 3\\nChip Count : 1\\n' ;;
  "info") cat "$SAMPLES/npu_smi_info_910b4_24.1.1_mindie_two_cards.txt" ;;
  "info -t ecc -i 0"|"info -t ecc -i 3") cat "$SAMPLES/npu_smi_t_ecc_910.txt" ;;
  "info -t board -i 3 -c 0") cat "$SAMPLES/npu_smi_t_board_910_chip.txt" ;;
  "info -t health -i 0") sleep 60 ;;
  *) echo 'This device does not support querying.' ;;
esac
"""


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_each_card_is_asked_by_its_own_number(shell: list[str], tmp_path: Path) -> None:
    program(tmp_path, "npu-smi", NPU_SMI)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SAMPLES": str(SAMPLES)}
    facts, _ = ask([BY_NAME["npu_ecc"], BY_NAME["npu_chips"], BY_NAME["npu_holders"]], shell, **environment)
    ecc, chips, holders = (facts.values.get(name) for name in ("npu_ecc", "npu_chips", "npu_holders"))
    assert isinstance(ecc, Cards)
    assert list(ecc.answers) == [0, 3]
    assert isinstance(chips, Cards)
    assert (list(chips.answers), chips.troubles[0].error_kind) == ([3], "not_supported_here")
    assert isinstance(holders, Holders)


def test_a_driver_that_hangs_costs_one_limit_not_one_for_each_card(tmp_path: Path) -> None:
    program(tmp_path, "npu-smi", NPU_SMI)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SAMPLES": str(SAMPLES)}
    facts, raws = ask([BY_NAME["npu_health"], BY_NAME["npu_ecc"]], **environment)
    assert not raws["npu_health"].timed_out
    assert raws["npu_health"].text.count("== card") == 1
    assert "hangs" in render(facts.reason("npu_health"), "en")
    assert isinstance(facts.values["npu_ecc"], Cards)


def test_a_table_that_never_comes_is_an_answer(tmp_path: Path) -> None:
    program(tmp_path, "npu-smi", "echo 'Initialize SchedulerClient...'; sleep 60")
    facts, _ = ask([BY_NAME["npu_tool"]], PATH=f"{tmp_path}:{os.environ['PATH']}")
    tool = facts.values["npu_tool"]
    assert isinstance(tool, NpuTool)
    assert tool.installed
    assert tool.trouble
    assert tool.trouble.error_kind == "timeout"


def test_a_tool_that_will_not_end_is_ended(tmp_path: Path) -> None:
    nap = "sleep 61.7"
    program(tmp_path, "npu-smi", f"trap '' TERM; [ \"$2\" = -l ] && echo 'NPU ID : 0' && exit; {nap}; {nap}")
    facts, raws = ask([BY_NAME["npu_power"]], PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert not raws["npu_power"].timed_out
    assert "hangs" in render(facts.reason("npu_power"), "en")
    shown = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert nap not in shown.splitlines()


def test_processes_of_a_card_are_found_with_their_names(tmp_path: Path) -> None:
    """npu-smi names a process that really runs here: this one."""
    row = f"| 0       0                 | {os.getpid()} | python | 2122 |"
    program(tmp_path, "npu-smi", f"echo '{row}'")
    facts, _ = ask([BY_NAME["npu_holders"]], PATH=f"{tmp_path}:{os.environ['PATH']}")
    holders = facts.values["npu_holders"]
    assert isinstance(holders, Holders)
    name = Path("/proc/self/comm").read_text().strip()
    assert [(one.pid, one.node, one.name) for one in holders.holders] == [(os.getpid(), None, name)]


def test_ports_are_asked_for_every_device_file(tmp_path: Path) -> None:
    program(tmp_path, "ls", "echo davinci0; echo davinci1; echo davinci_manager")
    answers = '-ip) echo "ipaddr:192.0.2.$2" ;; -link) echo "link status: UP" ;; *) echo "device not support" ;;'
    program(tmp_path, "hccn_tool", f'case "$3" in {answers} esac')
    facts, _ = ask([BY_NAME["npu_ports"]], PATH=f"{tmp_path}:{os.environ['PATH']}")
    ports = facts.values["npu_ports"]
    assert isinstance(ports, Ports)
    assert {card: (port.ip, port.link) for card, port in ports.ports.items()} == {
        0: ("192.0.2.0", "UP"),
        1: ("192.0.2.1", "UP"),
    }


def test_cann_of_a_user_is_found_below_the_home_folder(tmp_path: Path) -> None:
    at = tmp_path / "Ascend" / "cann" / "aarch64-linux"
    at.mkdir(parents=True)
    (at / "ascend_toolkit_install.info").write_text(
        (SAMPLES / "cann_toolkit_install_info_8.5.0_aarch64.txt").read_text()
    )
    facts, _ = ask([BY_NAME["cann_toolkit"], BY_NAME["cann_nnal"]], HOME=str(tmp_path))
    toolkit = facts.values["cann_toolkit"]
    assert isinstance(toolkit, VersionFile)
    assert toolkit.version == "8.5.0"
    assert facts.values["cann_nnal"] is None


def test_packages_of_the_python_that_is_named(tmp_path: Path) -> None:
    program(tmp_path, "mine", "echo vllm==0.23.0; echo torch==2.10.0")
    facts, _ = ask([BY_NAME["packages"]], PILOT_PYTHON=str(tmp_path / "mine"))
    packages = facts.values["packages"]
    assert isinstance(packages, Packages)
    assert packages.packages == {"vllm": "0.23.0", "torch": "2.10.0"}


def test_packages_of_the_engine_that_the_console_installed(tmp_path: Path) -> None:
    """Without it the checklist says after an installation that no engine package is there."""
    folder = tmp_path / "runtimes" / "ascend-venv" / "bin"
    folder.mkdir(parents=True)
    program(folder, "python", "echo vllm==0.23.0")
    packages = ask([BY_NAME["packages"]], folder=str(tmp_path))[0].values["packages"]
    assert isinstance(packages, Packages)
    assert packages.packages == {"vllm": "0.23.0"}
    (folder / "python").unlink()
    assert "vllm==0.23.0" not in ask([BY_NAME["packages"]], folder=str(tmp_path))[1]["packages"].text


def test_the_password_of_a_proxy_never_leaves_the_host() -> None:
    facts, raws = ask([BY_NAME["proxies"]], http_proxy="http://me:sesame@proxy.example:3128")
    assert "sesame" not in raws["proxies"].text
    assert "proxy.example:3128" in str(facts.values["proxies"])
