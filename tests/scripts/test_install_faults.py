"""The steps of an installation against installers that insist: each fault stops it with the reason and what to do."""

import shlex
from pathlib import Path

import pytest

from console.plans import ascend_docker, ascend_removal, ascend_venv
from console.plans.ascend import AsRoot, Options, runtime_script
from console.plans.refusals import Route
from console.plans.runbook import runbook
from console.plans.step import Step
from console.plans.target import Target
from tests.jobs.ascend_wheels import damage, packages
from tests.plans.resolving import KNOWN, on, target
from tests.running import living
from tests.scripts.rehearsed import Host, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())
QUICK = {"REHEARSAL_PACE": "0"}
WORK = "/root/pilot 数据"
BARE = target(driver=None)
HEALTHY = target(driver="25.5.1", firmware="7.8.0.6.201")
OLD = target(driver="25.0.rc1.1", firmware="7.7.0.1.231")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return packages(tmp_path / "a bundle")


def plan(host: Target, bundle: Path, route: Route = Route.VENV, release: str = "", **more: object) -> dict[str, Step]:
    release = release or ("0.23.0" if route is Route.VENV else "0.23.0.post1")
    stack = next(one for one in on(route, **vars(host)).stacks if one.release.vllm_ascend == release)
    options = Options(WORK, packages=str(bundle), **more)  # type: ignore[arg-type]
    made = ascend_venv.plan if route is Route.VENV else ascend_docker.plan
    return {one.name: one for one in made(host, stack, options, KNOWN)}


def words(*steps: Step) -> str:
    """One shell that runs scripts one after the other, each as a host would, and tells their codes."""
    parts = [f"mkdir -p {shlex.quote(WORK)} /root/at && cd /root/at"]
    for one in steps:
        parts.append(f"sh -c {shlex.quote(one.script)}; echo {one.name}=$?")
        parts.append(f"sh -c {shlex.quote(one.verify)} >/dev/null; echo {one.name}.verify=$?")
    return "\n".join(parts)


def cmdline(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def said(host: Host, *steps: Step, before: str = ":") -> str:
    return host.run(f"{before}\n{words(*steps)}", env=QUICK, code=None)


def test_the_wrong_order_is_refused_in_the_installers_words(tmp_path: Path, bundle: Path) -> None:
    steps = plan(BARE, bundle)
    told = said(
        Host(tmp_path / "host", "driver-missing"), steps["firmware"], steps["ops"], steps["nnal"], steps["driver"]
    )
    assert "please install the driver package first" in told
    assert "firmware=1" in told
    assert told.count("Install the toolkit first.") == 2
    assert "HwHiAiUser not exists" in told
    assert "driver=1" in told


def test_missing_headers_are_named(tmp_path: Path, bundle: Path) -> None:
    steps = plan(BARE, bundle)
    gone = "apt-get remove -y linux-headers-5.15.0-25-generic >/dev/null"
    told = said(
        Host(tmp_path / "host", "driver-missing"), steps["headers"], steps["system"], steps["headers"], before=gone
    )
    assert "linux-headers-5.15.0-25-generic on Ubuntu" in told
    assert "headers=1" in told
    assert "Missing packages of the system: " in told
    assert "system.verify=0" in told
    assert told.rstrip().endswith("headers.verify=0")


def test_a_full_disk_is_seen_before_an_installer_starts(tmp_path: Path, bundle: Path) -> None:
    told = said(Host(tmp_path / "host", "disk-full"), plan(HEALTHY, bundle)["toolkit"])
    assert "Not enough room for CANN: it needs 12000 MiB free" in told
    assert "toolkit=1" in told


def test_a_package_for_another_chip_stops_it(tmp_path: Path) -> None:
    other = packages(tmp_path / "other", chip="310p")
    told = said(Host(tmp_path / "host", "driver-missing"), plan(BARE, other)["driver"])
    assert "Ascend-hdk-910b-npu-driver_25.5.1_linux-aarch64.run is not in" in told
    assert "Ascend-hdk-310p-npu-driver_25.5.1_linux-aarch64.run" in told
    renamed = other / "Ascend-hdk-910b-npu-driver_25.5.1_linux-aarch64.run"
    (other / "Ascend-hdk-310p-npu-driver_25.5.1_linux-aarch64.run").rename(renamed)
    steps = plan(BARE, other)
    told = said(Host(tmp_path / "host", "driver-missing"), steps["user"], steps["driver"])
    assert "does not match the device" in told
    assert "driver=1" in told


def test_operators_of_another_chip_do_not_pass_for_the_right_ones(tmp_path: Path, bundle: Path) -> None:
    right = bundle / "Ascend-cann-910b-ops_9.1.0_linux-aarch64.run"
    wrong = packages(tmp_path / "other", chip="310p") / "Ascend-cann-310p-ops_9.1.0_linux-aarch64.run"
    right.unlink()
    wrong.rename(right)
    steps = plan(HEALTHY, bundle)
    told = said(Host(tmp_path / "host", "two-healthy-910b4"), steps["toolkit"], steps["ops"])
    assert "toolkit.verify=0" in told
    assert "ops=0\nops.verify=1" in told


def test_a_damaged_package_is_never_run(tmp_path: Path, bundle: Path) -> None:
    damage(bundle / "Ascend-cann-toolkit_9.1.0_linux-aarch64.run")
    steps = plan(HEALTHY, bundle)
    told = said(Host(tmp_path / "host", "two-healthy-910b4"), steps["packages"], steps["toolkit"])
    assert told.count("is damaged: its own checksum does not match") == 2
    assert "packages=1" in told
    assert "toolkit=1" in told


def test_cards_in_use_name_their_holder(tmp_path: Path, bundle: Path) -> None:
    steps = plan(BARE, bundle)
    told = said(Host(tmp_path / "host", "held-by-container"), steps["driver"], steps["firmware"])
    assert told.count("Cards of this host are in use") == 2
    assert "in the container team-b-llm" in told
    assert "Stop it, or wait until it has ended" in told


def test_the_driver_is_not_removed_while_cards_are_in_use(tmp_path: Path, bundle: Path) -> None:
    stack = next(one for one in on(Route.VENV, **vars(HEALTHY)).stacks if one.release.vllm_ascend == "0.23.0")
    listed = ascend_removal.plan(HEALTHY, stack, Options(WORK, packages=str(bundle)), KNOWN, with_driver=True)
    steps = {one.name: one for one in listed}
    names = list(steps)
    assert names.index("remove-firmware") < names.index("remove-driver") < names.index("restart-after")
    assert names[0] == "cards-free", "before anything that stands on the driver is removed"
    note = f"mkdir -p {shlex.quote(WORK)}/installs && echo 25.5.1 >{shlex.quote(WORK)}/installs/driver"
    held = Host(tmp_path / "host", "held-by-container")
    told = said(held, steps["cards-free"], before="true")
    assert "cards-free.verify=0" in told, "a driver that the console did not install is not removed anyway"
    told = said(held, steps["cards-free"], before=note)
    assert "in the container team-b-llm" in told
    assert "cards-free=1\ncards-free.verify=1" in told
    told = said(held, steps["remove-driver"])
    assert "so removing the driver now would break what runs on them" in told
    assert "in the container team-b-llm" in told
    assert "remove-driver=1" in told
    told = said(Host(tmp_path / "other", "two-healthy-910b4"), steps["cards-free"], steps["remove-driver"], before=note)
    assert "cards-free=0\ncards-free.verify=0" in told
    assert "remove-driver=0\nremove-driver.verify=0" in told


def test_an_engine_is_installed_where_only_its_command_is(tmp_path: Path, bundle: Path) -> None:
    steps = plan(BARE, bundle, Route.DOCKER)
    told = said(Host(tmp_path / "host", "driver-missing"), steps["engine"])
    assert "Unit docker.service not found." in told
    assert "engine=0\nengine.verify=0" in told
    stopped = said(Host(tmp_path / "other", "two-healthy-910b4"), steps["engine"], before="systemctl stop docker")
    assert "engine=0\nengine.verify=0" in stopped
    assert "Unpacking" not in stopped, "the engine that is there is only started"


def test_an_upgrade_takes_the_firmware_first(tmp_path: Path, bundle: Path) -> None:
    steps = plan(OLD, bundle)
    assert list(steps).index("firmware") < list(steps).index("driver")
    host = Host(tmp_path / "host", "cann-driver-conflict")
    told = said(host, steps["firmware"], steps["driver"])
    assert "firmware.verify=0" in told
    assert "driver.verify=0" in told
    assert "--upgrade" in told
    told = host.run(words(steps["restart"]), env=QUICK, boot=True, code=None)
    assert "restart=75" in told


def test_a_lock_is_waited_for_and_its_holder_named(tmp_path: Path, bundle: Path) -> None:
    lock = (
        'python3 -c \'import fcntl, time; f = open("/var/lib/dpkg/lock-frontend", "w"); fcntl.lockf(f, fcntl.LOCK_EX); '
        "time.sleep(9)' & sleep 2"
    )
    told = said(Host(tmp_path / "host", "driver-missing"), plan(BARE, bundle)["system"], before=lock)
    assert "Waiting for the package tool (0 s): Could not get lock" in told
    assert "It is held by process" in told
    assert "system=0" in told


def test_without_root_cann_goes_below_the_home_and_an_administrator_is_asked_for(tmp_path: Path, bundle: Path) -> None:
    steps = plan(BARE, bundle, login="pilot", as_root=AsRoot.NONE)
    told = said(Host(tmp_path / "host", "no-sudo"), steps["driver"], steps["toolkit"], steps["ops"], steps["nnal"])
    assert "Ask an administrator of this host to run, as root: sh Ascend-hdk-910b-npu-driver" in told
    assert "nnal.verify=0" in told
    assert "/root/Ascend" in told


def test_the_container_route(tmp_path: Path, bundle: Path) -> None:
    steps = plan(BARE, bundle, Route.DOCKER)
    host = Host(tmp_path / "host", "two-healthy-910b4")
    told = said(host, steps["engine"], steps["image"], steps["devices"])
    assert "engine.verify=0" in told
    assert "There is no archive of the image quay.io/ascend/vllm-ascend:v0.23.0.post1" in told
    assert "devices.verify=0" in told
    pulled = plan(BARE, bundle, Route.DOCKER, source="index")
    told = said(host, pulled["image"], pulled["level-container"])
    assert "Downloaded newer image" in told
    assert "image.verify=0" in told
    assert "level-container.verify=0" in told
    stack = next(one for one in on(Route.DOCKER, **vars(BARE)).stacks if one.release.vllm_ascend == "0.23.0.post1")
    (gone,) = (one for one in ascend_removal.plan(BARE, stack, Options(WORK), KNOWN) if one.name == "remove-image")
    told = said(host, gone, pulled["image"])
    assert "remove-image.verify=0" in told
    proof = shlex.quote(pulled["level-container"].verify)
    assert "No container was tried yet" in host.run(f"sh -c {proof}", code=1), "that was another image"


def test_what_was_proved_with_another_driver_or_image_is_proved_again(tmp_path: Path, bundle: Path) -> None:
    steps = plan(BARE, bundle, Route.DOCKER, source="index")
    host = Host(tmp_path / "host", "two-healthy-910b4")
    assert "level-container.verify=0" in said(host, steps["image"], steps["level-container"])
    note, proof = f"{shlex.quote(WORK)}/installs/container-proved", shlex.quote(steps["level-container"].verify)
    host.run(f"sed -i 's/25.5.1/25.2.0/' {note}; cat {note}")
    told = host.run(f"sh -c {proof}", code=1)
    assert "No container was tried with this image and this driver" in told
    assert "level-container.verify=0" in said(host, steps["level-container"])


def test_an_image_that_was_there_before_is_used_and_not_noted_as_brought(tmp_path: Path, bundle: Path) -> None:
    steps = plan(BARE, bundle, Route.DOCKER, source="index")
    host, image = Host(tmp_path / "host", "two-healthy-910b4"), "quay.io/ascend/vllm-ascend:v0.23.0.post1"
    told = said(host, steps["level-container"], before=f"docker pull {image} >/dev/null")
    assert "level-container.verify=0" in told
    look = runtime_script(Options(WORK), "ascend_docker")
    assert host.run(f"sh -c {shlex.quote(look)}; ls {shlex.quote(WORK)}/installs").splitlines()[-3:] == [
        image,
        "container-looked",
        "container-proved",
    ]


def test_the_runbook_does_the_same_without_the_console(tmp_path: Path, bundle: Path) -> None:
    steps = plan(HEALTHY, bundle)
    file = tmp_path / "install it.sh"
    file.write_text(runbook(list(steps.values())))
    text = f"sh {shlex.quote(str(file))}"
    host = Host(tmp_path / "host", "two-healthy-910b4")
    told = host.run(text, env=QUICK)
    assert f"== 4/{len(steps)} level-driver: Prove the driver" in told
    assert "It answers after" in told
    left = [one for one in living() if f"{WORK}/runtimes".encode() in cmdline(one)]
    assert left == []
    again = host.run(text, env=QUICK)
    assert again.count("already done") == len(steps)
