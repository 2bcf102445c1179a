"""The simulated installers insist on what the vendor's insist on, and leave what the console's facts then read."""

import subprocess
import sys
from pathlib import Path

import pytest

from console.facts.ascend import FACTS
from console.facts.npu_presence import NpuTool
from console.facts.versions import VersionFile
from tests.scripts.rehearsed import FAKE, Host, probed, why_not

sys.path.insert(0, str(FAKE))
import make_package  # type: ignore[import-not-found]

inside = pytest.mark.skipif(bool(why_not()), reason=why_not())
QUICK = {"REHEARSAL_PACE": "0"}
USER = "groupadd HwHiAiUser && useradd -g HwHiAiUser -m HwHiAiUser"
VERSIONS = [
    fact
    for fact in FACTS
    if fact.name
    in ("npu_tool", "install_info", "driver_version", "firmware_version", "cann_toolkit", "cann_operators", "cann_nnal")
]


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / "packages"
    folder.mkdir()
    return folder


def make(folder: Path, kind: str, version: str, chip: str = "910b", **more: object) -> str:
    return str(make_package.write(kind, version, chip, folder, size_mb=0.01, **more))


@pytest.mark.parametrize(
    ("kind", "version", "chip", "name"),
    [
        ("driver", "25.5.1", "910b", "Ascend-hdk-910b-npu-driver_25.5.1_linux-aarch64.run"),
        ("firmware", "7.8.0.6.201", "910b", "Ascend-hdk-910b-npu-firmware_7.8.0.6.201.run"),
        ("toolkit", "9.1.0", "910b", "Ascend-cann-toolkit_9.1.0_linux-aarch64.run"),
        ("ops", "9.1.0", "910b", "Ascend-cann-910b-ops_9.1.0_linux-aarch64.run"),
        ("ops", "9.1.0", "A3", "Ascend-cann-A3-ops_9.1.0_linux-aarch64.run"),
        ("ops", "8.3.RC2", "910b", "Ascend-cann-kernels-910b_8.3.RC2_linux-aarch64.run"),
        ("ops", "8.3.RC2", "A3", "Atlas-A3-cann-kernels_8.3.RC2_linux-aarch64.run"),
        ("nnal", "9.1.0", "910b", "Ascend-cann-nnal_9.1.0_linux-aarch64.run"),
    ],
)
def test_packages_have_the_vendors_names(kind: str, version: str, chip: str, name: str) -> None:
    assert make_package.name(kind, version, chip) == name


def test_a_driver_for_the_other_architecture_is_spelt_with_a_hyphen() -> None:
    assert make_package.name("driver", "25.5.1", "910b", "x86_64").endswith("_linux-x86-64.run")
    assert make_package.name("toolkit", "9.1.0", "", "x86_64").endswith("_linux-x86_64.run")


def test_a_package_can_be_checked_anywhere_and_installs_nowhere_else(packages: Path, tmp_path: Path) -> None:
    package = make(packages, "driver", "25.5.1")
    checked = subprocess.run([package, "--check"], capture_output=True, text=True, check=True)
    assert "SHA256 checksums are OK. All good." in checked.stdout
    taken_out = [package, "--noexec", f"--extract={tmp_path / 'out'}"]
    subprocess.run(taken_out, capture_output=True, check=True)
    assert (tmp_path / "out" / "manifest.json").exists()
    environment = {"REHEARSAL_ROOT": str(tmp_path), "PATH": "/usr/bin:/bin"}
    refused = subprocess.run([package, "--full"], capture_output=True, text=True, check=False, env=environment)
    assert refused.returncode == 1
    assert "rehearsal host only" in refused.stderr


def test_a_damaged_package_says_so(packages: Path) -> None:
    package = Path(make(packages, "toolkit", "9.1.0"))
    content = package.read_bytes()
    package.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    for words in (["--check"], ["--install", "--quiet"]):
        done = subprocess.run([package, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "Error in SHA256 checksums" in done.stderr


@inside
def test_from_a_bare_host_to_cann_in_the_documented_order(packages: Path, tmp_path: Path) -> None:
    host = Host(tmp_path / "host", "driver-missing")
    driver, firmware = make(packages, "driver", "25.5.1"), make(packages, "firmware", "7.8.0.6.201", bundle="25.5.1")
    said = host.run(
        f"{USER} && {driver} --full --install-for-all && {firmware} --full && npu-smi info", env=QUICK, code=1
    )
    assert "[INFO]Driver package installed successfully! Reboot needed" in said
    assert "[INFO]Firmware package installed successfully! Reboot now or after driver installation" in said
    assert said.rstrip().endswith("dcmi module initialize failed. ret is -8005")
    toolkit, ops, nnal = (make(packages, kind, "9.1.0") for kind in ("toolkit", "ops", "nnal"))
    source = ". /usr/local/Ascend/cann/set_env.sh"
    said = host.run(
        f"{toolkit} --full --quiet && {source} && {ops} --install --quiet && {nnal} --install --quiet"
        " && . /usr/local/Ascend/nnal/atb/set_env.sh && echo $ATB_HOME_PATH $ASCEND_HOME_PATH",
        env=QUICK,
    )
    assert said.rstrip().endswith("/usr/local/Ascend/nnal/atb/latest/atb/cxx_abi_1 /usr/local/Ascend/cann")
    values = probed(host, VERSIONS).values
    tool = values.pop("npu_tool")
    assert isinstance(tool, NpuTool)
    assert tool.info is not None
    assert tool.info.driver_version == "25.5.1"
    files = {name: value for name, value in values.items() if isinstance(value, VersionFile)}
    assert files["driver_version"].driver == "25.5.1"
    assert (files["firmware_version"].firmware, files["firmware_version"].package_version) == ("7.8.0.6.201", "25.5.1")
    assert (files["install_info"].for_all, files["install_info"].complete) == (True, True)
    assert {files[name].version for name in ("cann_toolkit", "cann_operators", "cann_nnal")} == {"9.1.0"}
    assert files["cann_operators"].package == "Ascend-cann-910b-ops"


@inside
def test_releases_up_to_8_3_lie_where_they_used_to(packages: Path, tmp_path: Path) -> None:
    host = Host(tmp_path / "host", "two-healthy-910b4")
    toolkit, ops = make(packages, "toolkit", "8.3.RC2"), make(packages, "ops", "8.3.RC2")
    assert "kernels" in Path(ops).name
    script = f"{toolkit} --full --quiet && ls /usr/local/Ascend/ascend-toolkit/8.3.RC2 /usr/local/Ascend"
    assert "cann" not in host.run(script, env=QUICK).split("8.3.RC2:")[-1].split()
    before = probed(host, VERSIONS).values["cann_operators"]
    host.run(f"{ops} --install --quiet", env=QUICK)
    after = probed(host, VERSIONS).values["cann_operators"]
    assert isinstance(before, VersionFile)
    assert isinstance(after, VersionFile)
    assert (before.kernels_installed, after.kernels_installed, after.cann) == (False, True, "8.3.RC2")


@inside
def test_what_a_driver_installer_refuses(packages: Path, tmp_path: Path) -> None:
    """All on one host, for none of them changes anything; the same command at the end succeeds."""
    host = Host(tmp_path / "host", "driver-missing")
    good, firmware = make(packages, "driver", "25.5.1"), make(packages, "firmware", "7.8.0.6.201")
    headers = "linux-headers-5.15.0-25-generic"
    cases = [
        (f"{firmware} --full", "please install the driver package first"),
        (f"{good} --full", "[ERROR]ERR_NO:0x0091;ERR_DES:HwHiAiUser not exists! Please add HwHiAiUser"),
        (f"{good} --upgrade", "HwHiAiUser not exists"),
        (f"{USER}; {good} --upgrade", "There is no driver package installed"),
        (f"{good} --full --fancy", "Unrecognized parameters: --fancy"),
        (f"{good} --quiet", "Unrecognized parameters"),
        (f"{good} --uninstall", "There is no driver package installed"),
        (f"{make(packages, 'driver', '25.5.1', '310p')} --full", "does not match the device"),
        (f"{make(packages, 'driver', '25.5.1', arch='x86_64')} --full", "The architecture of the package is x86_64"),
        (
            f"apt-get remove -y {headers} >/dev/null; {good} --full",
            "/lib/modules/5.15.0-25-generic/build does not exist",
        ),
        (f"apt-get remove -y gcc >/dev/null; {good} --full", "The list of missing tools: gcc"),
        (f"REHEARSAL_AS=HwHiAiUser {good} --full", "ERR_NO:0x0093;ERR_DES:do not have root permission"),
    ]
    said = host.run("; ".join(f"{script}; echo code=$?" for script, _ in cases), env=QUICK)
    answers = said.split("code=")
    for (script, wanted), answer, after in zip(cases, answers, answers[1:], strict=False):
        assert wanted in answer, script
        assert after.startswith("1"), script
    host.run(f"apt-get install -y gcc {headers} >/dev/null && {good} --full && {firmware} --full", env=QUICK)


@inside
def test_an_upgrade_begins_with_the_firmware(packages: Path, tmp_path: Path) -> None:
    driver, firmware = make(packages, "driver", "25.5.1"), make(packages, "firmware", "7.8.0.6.201", bundle="25.5.1")
    wrong = Host(tmp_path / "wrong", "cann-driver-conflict")
    said = wrong.run(f"{driver} --upgrade && {firmware} --upgrade", env=QUICK, code=1)
    assert "25.0.rc1.1 is running, please reboot before the firmware is upgraded" in said
    right = Host(tmp_path / "right", "cann-driver-conflict")
    said = right.run(f"{firmware} --upgrade && {driver} --upgrade && npu-smi info | head -2", env=QUICK)
    assert "Firmware package upgraded successfully!" in said
    assert "Driver package upgraded successfully!" in said
    assert "npu-smi 25.0.rc1.1" in said
    assert "npu-smi 25.5.1" in right.run("npu-smi info")


@inside
def test_an_installed_driver_is_replaced_only_when_asked_for(packages: Path, tmp_path: Path) -> None:
    host = Host(tmp_path / "host", "two-healthy-910b4")
    driver = make(packages, "driver", "25.5.1")
    question = "do you want to continue?  [y/n]"
    said = host.run(f"{driver} --full </dev/null", env=QUICK, code=1)
    assert question in said
    assert "stop installation!" in said
    assert question in host.run(f"echo y | {driver} --full", env=QUICK)
    assert question not in host.run(f"{driver} --full --quiet", env=QUICK)


@inside
def test_cards_in_use_stop_driver_and_firmware(packages: Path, tmp_path: Path) -> None:
    host = Host(tmp_path / "host", "held-by-container")
    driver, firmware = make(packages, "driver", "25.5.1"), make(packages, "firmware", "7.8.0.6.201")
    for words in (f"{driver} --upgrade", f"{firmware} --upgrade", "/usr/local/Ascend/driver/script/uninstall.sh"):
        said = host.run(words, env=QUICK, code=1)
        assert "The davinci nodes are occupied by some processes" in said
    assert "upgraded successfully" in host.run(f"docker stop team-b-llm && {firmware} --upgrade", env=QUICK)


@inside
def test_uninstalled_parts_are_gone(packages: Path, tmp_path: Path) -> None:
    host = Host(tmp_path / "host", "eight-910b3")
    ops, toolkit, nnal = (make(packages, kind, "9.1.0") for kind in ("ops", "toolkit", "nnal"))
    folder = "/usr/local/Ascend"
    said = host.run(
        f"{nnal} --uninstall && {ops} --uninstall && {toolkit} --uninstall && {folder}/firmware/script/uninstall.sh "
        f"&& {folder}/driver/script/uninstall.sh --quiet && find {folder} -type f -o -type l;"
        "ls /etc/ascend_install.info",
        env=QUICK,
        code=2,
    )
    assert "Driver package uninstalled successfully! Reboot needed" in said
    assert said.rstrip().endswith("No such file or directory")
    values = probed(host, VERSIONS).values
    tool = values.pop("npu_tool")
    assert isinstance(tool, NpuTool)
    assert not tool.installed
    assert {name: values[name] for name in values if name != "probe"} == dict.fromkeys(
        fact.name for fact in VERSIONS if fact.name != "npu_tool"
    )


@inside
def test_what_cann_installers_refuse(packages: Path, tmp_path: Path) -> None:
    host = Host(tmp_path / "host", "two-healthy-910b4")
    ops, toolkit, nnal = (make(packages, kind, "9.1.0") for kind in ("ops", "toolkit", "nnal"))
    foreign = make(packages, "toolkit", "9.1.0", arch="x86_64")
    cases = [
        (f"{ops} --install --quiet", "please install it first"),
        (f"{nnal} --install --quiet", "please install it first"),
        (f"{toolkit} --full </dev/null", "The EULA is not accepted"),
        (f"{foreign} --full --quiet", "the architecture of the run package is x86_64"),
        (f"{toolkit} --full --quiet --install-path=here", "is not absolute"),
        (f"{toolkit} --full --quiet >/dev/null; {nnal} --install --quiet", "ASCEND_HOME_PATH is not set"),
    ]
    answers = host.run("; ".join(f"{script}; echo code=$?" for script, _ in cases), env=QUICK).split("code=")
    for (script, wanted), answer, after in zip(cases, answers, answers[1:], strict=False):
        assert wanted in answer, script
        assert after.startswith("1"), script


@inside
def test_operators_of_another_chip_install_without_complaint(packages: Path, tmp_path: Path) -> None:
    host = Host(tmp_path / "host", "two-healthy-910b4")
    toolkit, ops = make(packages, "toolkit", "9.1.0"), make(packages, "ops", "9.1.0", "310p")
    host.run(f"{toolkit} --full --quiet && {ops} --install --quiet", env=QUICK)
    operators = probed(host, VERSIONS).values["cann_operators"]
    assert isinstance(operators, VersionFile)
    assert operators.package == "Ascend-cann-310p-ops"


@inside
def test_a_user_without_root_installs_below_home(packages: Path, tmp_path: Path) -> None:
    host = Host(tmp_path / "host", "no-sudo")
    toolkit = make(packages, "toolkit", "9.1.0")
    environment = {**QUICK, "HOME": "/home/pilot"}
    said = host.run(f"{toolkit} --full --quiet --install-path=/usr/local/Ascend", env=environment, code=1)
    assert "The pilot do not have the permission to access /usr/local/Ascend" in said
    said = host.run(
        f"{toolkit} --full --quiet && ls /home/pilot/Ascend; sudo -n {toolkit} --full", env=environment, code=1
    )
    assert "cann-9.1.0" in said
    assert "sudo: a password is required" in said


@inside
def test_a_full_disk_takes_no_package(packages: Path, tmp_path: Path) -> None:
    host = Host(tmp_path / "host", "disk-full")
    toolkit = make(packages, "toolkit", "9.1.0")
    said = host.run(f"{toolkit} --full --quiet; echo code=$?; ls /usr/local/Ascend", env=QUICK)
    assert "Cannot write: No space left on device" in said
    assert "code=1" in said
    assert "cann" not in said.split("code=1")[1]


@inside
def test_what_is_installed_takes_room(packages: Path, tmp_path: Path) -> None:
    host = Host(tmp_path / "host", "two-healthy-910b4")
    toolkit = make(packages, "toolkit", "9.1.0")
    free = "df -PBG /usr/local | tail -n 1 | awk '{ print $4 }'"
    said = host.run(
        f"{free}; {toolkit} --full --quiet >/dev/null; {free}; {toolkit} --uninstall >/dev/null; {free}", env=QUICK
    )
    before, between, after = map(int, said.split())
    assert before - between >= 8
    assert after - between >= 7
