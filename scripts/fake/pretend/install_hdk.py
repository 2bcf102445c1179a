"""How the installers of driver and firmware behave: what they insist on, what they write, what they say."""

import re

from pretend import installer, load, packages, place, programs, room, tree, users
from pretend.installer import Asked, Refused

LOG = "/var/log/ascend_seclog/ascend_install.log"
GIB = 2**30
SIZES = {"driver": round(0.6 * GIB), "firmware": round(0.1 * GIB)}
CHIPS = {"A2": "910b", "A3": "a3", "310P": "310p", "first": "910", "A5": "950"}
"""Family -> the word in the name of its packages."""
BUSY = (
    "ERR_NO:0x0090;ERR_DES:The davinci nodes are occupied by some processes, please stop processes and install or "
    "uninstall the {what} package"
)


def carry_out(asked: Asked) -> None:
    what = asked.manifest["kind"]
    if users.current().uid:
        raise Refused(
            "ERR_NO:0x0093;ERR_DES:do not have root permission, operation failed, please use root permission!"
        )
    _begin(asked)
    if asked.action == "--uninstall":
        _uninstall(asked, what)
        return
    verb = "upgrade" if asked.action == "--upgrade" else "install"
    _fits(asked, what)
    (_may_driver if what == "driver" else _may_firmware)(asked, verb)
    _not_busy(what)
    if room.of("/usr/local/Ascend").free < SIZES[what]:
        print("tar: driver/lib64/libascend_hal.so: Cannot write: No space left on device", flush=True)
        raise Refused(f"Failed to {verb} {what} package, no space left on device, details in : {LOG}")
    (_driver if what == "driver" else _firmware)(asked, verb)
    room.claim(what, "/usr/local/Ascend", SIZES[what])


def _begin(asked: Asked) -> None:
    asked.say("INFO", f"LogFile: {LOG}")
    asked.say("INFO", "OperationLogFile: /var/log/ascend_seclog/operation.log")
    asked.say("WARNING", "Do not power off or restart the system during the installation/upgrade")


def _fits(asked: Asked, what: str) -> None:
    chip = place.scenario()["chip"]
    if asked.manifest["chip"].lower() != CHIPS[chip["family"]]:
        raise Refused(
            f"ERR_NO:0x0092;ERR_DES:The {what} package of {asked.manifest['chip']} does not match the device."
        )
    if what == "driver" and asked.manifest["arch"] != "aarch64":
        arch = asked.manifest["arch"]
        raise Refused(f"ERR_NO:0x0092;ERR_DES:The architecture of the package is {arch}, that of the host is aarch64.")


def _may_driver(asked: Asked, verb: str) -> None:
    user = asked.given.get("--install-username") or "HwHiAiUser"
    found = users.lookup(user)
    if found is None:
        raise Refused(f"ERR_NO:0x0091;ERR_DES:{user} not exists! Please add {user}")
    asked.say("INFO", f"set username and usergroup, {user}:{asked.given.get('--install-usergroup') or found.group}")
    installed = place.read("driver").get("driver")
    if verb == "upgrade" and not installed:
        raise Refused("ERR_NO:0x0080;ERR_DES:There is no driver package installed, upgrade is not allowed!")
    question = (
        f"Driver package has been installed on the path /usr/local/Ascend, the version is {installed}, and the version "
        f"of this package is {asked.manifest['version']},do you want to continue?  [y/n]"
    )
    if installed and verb == "install" and not asked.agrees(question):
        raise Refused("stop installation!")
    _may_build()


def _may_build() -> None:
    """The module is built for the running kernel."""
    have = packages.installed()
    missing = [name for name in ("gcc", "make") if name not in have]
    if missing:
        raise Refused(f"ERR_NO:0x0080;ERR_DES:The list of missing tools: {','.join(missing)}")
    release = place.scenario()["kernel"]["release"]
    if not place.at(f"/lib/modules/{release}/build/Makefile").exists():
        names = " or ".join(programs.headers_of(release)[:2])
        raise Refused(
            f"ERR_NO:0x0080;ERR_DES:The kernel source path /lib/modules/{release}/build does not exist, the driver "
            f"cannot be compiled. Please install {names}."
        )


def _may_firmware(asked: Asked, verb: str) -> None:
    kept = place.read("driver")
    if not kept.get("driver"):
        raise Refused(
            "ERR_NO:0x0080;ERR_DES:The driver package is not installed, please install the driver package first!"
        )
    if verb == "upgrade" and not kept.get("firmware"):
        raise Refused("ERR_NO:0x0080;ERR_DES:There is no firmware package installed, upgrade is not allowed!")
    if kept.get("running") and kept["running"] != kept["driver"]:
        raise Refused(
            f"The driver package {kept['driver']} has been installed but {kept['running']} is running, please reboot "
            "before the firmware is upgraded!"
        )


def _not_busy(what: str) -> None:
    nodes = sum(len(card["chips"]) for card in place.scenario()["cards"])
    if place.read("driver").get("loaded") and load.running(nodes):
        raise Refused(BUSY.format(what=what))


def _driver(asked: Asked, verb: str) -> None:
    kept = place.read("driver")
    if kept.get("driver"):
        asked.say("INFO", f"base version is {kept['driver']}.")
    has_dkms = "dkms" in packages.installed()
    asked.say("INFO", f"driver install type: {'DKMS' if has_dkms else 'Direct'}")
    for percent in (10, 30, 40, 90, 100):
        asked.say("INFO", f"upgradePercentage:{percent}%")
        installer.pause(0.2)
    for_all = "--install-for-all" in asked.given or bool(verb == "upgrade" and kept.get("for_all"))
    user = asked.given.get("--install-username") or "HwHiAiUser"
    tree.write_driver(asked.manifest["version"], for_all=for_all, user=user, group=_group(user))
    _reboot_needed()
    done = f"Driver package {verb.removesuffix('e')}ed successfully!"
    asked.say("INFO", f"{done} Reboot needed for installation/upgrade to take effect!")


def _group(user: str) -> str:
    found = users.lookup(user)
    return found.group if found else user


def _firmware(asked: Asked, verb: str) -> None:
    for percent in (4, 51, 86, 100):
        asked.say("INFO", f"upgradePercentage: {percent}%")
        installer.pause(0.25)
    tree.write_firmware(asked.manifest["version"], asked.manifest["bundle"])
    _reboot_needed()
    words = (
        f"Firmware package {verb.removesuffix('e')}ed successfully! Reboot now or after driver installation for the "
    )
    asked.say("INFO", words + "installation/upgrade to take effect.")


def _uninstall(asked: Asked, what: str) -> None:
    if not place.read("driver").get(what):
        raise Refused(f"ERR_NO:0x0080;ERR_DES:There is no {what} package installed, uninstallation is not allowed!")
    _not_busy(what)
    installer.pause(0.3)
    (tree.remove_driver if what == "driver" else tree.remove_firmware)()
    room.claim(what, "/usr/local/Ascend", 0)
    _reboot_needed()
    title = re.sub("^.", lambda first: first.group().upper(), what)
    asked.say("INFO", f"{title} package uninstalled successfully! Reboot needed for uninstallation to take effect!")


def _reboot_needed() -> None:
    with place.changing("driver") as kept:
        kept["reboot"] = True
