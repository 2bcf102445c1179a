"""Checks of the driver, the firmware and CANN, and of what their installation needs."""

from shlex import quote

from console.catalog.ascend import Fit, driver_rule, order
from console.catalog.profiles import Profile
from console.checks.check import Level, Verdict, check
from console.checks.systems import is_debian
from console.facts.npu_presence import NpuNodes, NpuTool
from console.facts.os_release import OsRelease
from console.facts.tuning import Headers, NpuUser
from console.facts.versions import VersionFile
from console.text import say, verbatim

DRIVER_GROUP = "HwHiAiUser"


def driver_name(driver_version: VersionFile | None, npu_tool: NpuTool | None) -> str | None:
    """The version of the driver bundle, as npu-smi and the driver's own file write it."""
    told = npu_tool.info.driver_version if npu_tool and npu_tool.info else None
    return told or ((driver_version.package_version or driver_version.driver) if driver_version else None)


@check(
    area="driver",
    title=say("Driver"),
    why=say("Nothing else reaches the cards; half an installation fails later and less clearly."),
)
def driver_installed(
    driver_version: VersionFile | None,
    npu_tool: NpuTool,
    npu_nodes: NpuNodes,
    install_info: VersionFile | None = None,
) -> Verdict:
    wanted = say("A driver, completely installed, with its device files")
    version = driver_name(driver_version, npu_tool)
    if version is None and not npu_tool.installed:
        fix = say("Install the driver, then the firmware, then restart the host.")
        return Verdict(Level.FAIL, say("No driver is installed"), wanted, fix)
    shown = version or "?"
    warnings = npu_tool.info.warnings if npu_tool.info else ()
    if warnings or (install_info and install_info.complete is False):
        fix = say("Run the installer of the driver again, with --full, and read its log to the end.")
        command = "tail -n 50 /var/log/ascend_seclog/ascend_install.log"
        return Verdict(
            Level.FAIL, say("Driver {version}, not completely installed", version=shown), wanted, fix, command, warnings
        )
    if not npu_nodes.numbers or not npu_nodes.manager:
        fix = say(
            "Restart the host. If the device files stay away, the module of the driver was not loaded: compare the "
            "kernel with its headers, and install the driver again."
        )
        seen = say("Driver {version}, but its files under /dev are missing", version=shown)
        return Verdict(Level.FAIL, seen, wanted, fix, "ls -l /dev/davinci*; lsmod | grep drv_")
    return Verdict(Level.PASS, say("Driver {version}", version=shown), wanted)


@check(
    area="driver",
    title=say("Driver and firmware"),
    why=say("The driver speaks to firmware of certain versions only; with others, cards stay silent."),
)
def driver_and_firmware(driver_version: VersionFile | None, firmware_version: VersionFile | None) -> Verdict:
    between = driver_version.compatible_fw if driver_version else None
    firmware = firmware_version.firmware if firmware_version else None
    wanted = say("A firmware that the driver names as compatible")
    if between and len(between) == 2:
        wanted = say("Firmware {low} to {high}", low=between[0], high=between[1])
    if driver_version is None or firmware_version is None:
        fix = say("Install driver and firmware. In a container, the files of the host may just not be mounted.")
        return Verdict(Level.UNKNOWN, say("The version file of one of them is missing"), wanted, fix)
    if not between or len(between) != 2 or not firmware:
        fix = say("Compare both with the vendor's version table.")
        return Verdict(Level.UNKNOWN, say("The version files do not tell what fits"), wanted, fix)
    seen = say("Firmware {version}", version=firmware)
    if order(between[0]) <= order(firmware) and order(firmware)[:3] <= order(between[1])[:3]:
        return Verdict(Level.PASS, seen, wanted)
    fix = say("Install the firmware that was published together with this driver, then restart the host.")
    return Verdict(Level.FAIL, seen, wanted, fix, "cat /usr/local/Ascend/firmware/version.info")


@check(
    area="driver",
    title=say("Driver and CANN"),
    why=say("Each CANN release runs on certain drivers; on others it fails at the first call, or in graph capture."),
)
def driver_and_cann(
    driver_version: VersionFile | None,
    cann_toolkit: VersionFile | None,
    profile: Profile,
    npu_tool: NpuTool | None = None,
) -> Verdict:
    driver = driver_name(driver_version, npu_tool)
    installed = (cann_toolkit.version or cann_toolkit.cann) if cann_toolkit else None
    cann = installed or profile.text("cann")
    rule = driver_rule(cann)
    wanted = say("For CANN {cann}: {drivers}", cann=cann, drivers=rule.words if rule else "?")
    if driver is None:
        return Verdict(Level.UNKNOWN, say("No driver is installed"), wanted, say("Install the driver first."))
    seen = say("Driver {driver}, CANN {cann}", driver=driver, cann=cann)
    if installed is None:
        seen = say("Driver {driver}; CANN {cann} is to be installed", driver=driver, cann=cann)
    fit = rule.fit(driver) if rule else Fit.UNLISTED
    evidence = (rule.source,) if rule else ()
    if fit in (Fit.TOO_OLD, Fit.EXCLUDED):
        fix = say(
            "Install a newer firmware, then a newer driver, then restart the host; or take a CANN release that goes "
            "with this driver."
        )
        return Verdict(Level.FAIL, seen, wanted, fix, evidence=evidence)
    if fit is Fit.UNLISTED:
        fix = say("The vendor's tables do not name this pair. Prefer one they name, or try it before you rely on it.")
        return Verdict(Level.WARN, seen, wanted, fix, evidence=evidence)
    wished = profile.text("driver_wished")
    if order(driver) < order(wished):
        fix = say(
            "It works. For the default graph mode of vLLM Ascend, a driver from {version} on is wished.", version=wished
        )
        return Verdict(Level.WARN, seen, wanted, fix, evidence=evidence)
    return Verdict(Level.PASS, seen, wanted, evidence=evidence)


@check(
    area="driver",
    title=say("Kernel headers"),
    why=say("The driver builds its module for the running kernel; without these headers its installation fails."),
)
def headers_for_kernel(
    kernel_headers: Headers, npu_nodes: NpuNodes | None = None, os_release: OsRelease | None = None
) -> Verdict:
    wanted = say("Headers of the running kernel {release}", release=kernel_headers.running)
    if kernel_headers.folder:
        return Verdict(Level.PASS, verbatim(kernel_headers.folder), wanted)
    seen = say("None for this kernel")
    if kernel_headers.others:
        seen = say("Only for other kernels: {releases}", releases=", ".join(kernel_headers.others))
    fix = say("Install them. If the package is gone, the kernel was updated: restart into the new one first.")
    command = "sudo dnf install -y kernel-devel-$(uname -r) kernel-headers-$(uname -r)"
    if is_debian(os_release):
        command = "sudo apt-get install -y linux-headers-$(uname -r)"
    works = bool(npu_nodes and npu_nodes.numbers)
    return Verdict(Level.WARN if works else Level.FAIL, seen, wanted, fix, command)


@check(
    area="driver",
    title=say("Right to use the cards"),
    why=say("Without --install-for-all, only root and the group of the driver may open the device files."),
)
def npu_permission(npu_user: NpuUser, install_info: VersionFile | None = None) -> Verdict:
    wanted = say("Root, a member of the group {group}, or a driver installed for all", group=DRIVER_GROUP)
    if not npu_user.driver_user and install_info is None:
        fix = say("Create the user before the driver is installed: its installer stops without it.")
        command = f"sudo groupadd {DRIVER_GROUP} && sudo useradd -g {DRIVER_GROUP} -m -s /bin/bash {DRIVER_GROUP}"
        seen = say("The user {group} does not exist yet", group=DRIVER_GROUP)
        return Verdict(Level.WARN, seen, wanted, fix, command)
    seen = say(
        "{user}, in the groups {groups}", user=verbatim(npu_user.name), groups=verbatim(", ".join(npu_user.groups))
    )
    group = (install_info.group if install_info else None) or DRIVER_GROUP
    if npu_user.uid == 0 or group in npu_user.groups or (install_info and install_info.for_all):
        return Verdict(Level.PASS, seen, wanted)
    fix = say("Add the user to the group, then log in again.")
    return Verdict(Level.FAIL, seen, wanted, fix, f"sudo usermod -aG {quote(group)} {quote(npu_user.name)}")
