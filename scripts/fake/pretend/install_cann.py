"""How the installers of CANN behave: toolkit, operators and NNAL, in this order, from a sourced environment."""

import os
import shutil
from pathlib import Path

from pretend import installer, place, room, tree, users, versions
from pretend.installer import Asked, Refused

GIB = 2**30
SIZES = {"toolkit": 8 * GIB, "ops": 5 * GIB, "nnal": 2 * GIB}
PATHS = "/etc/Ascend/ascend_cann_install.info"


def log_of(kind: str) -> str:
    name = {
        "toolkit": "ascend_toolkit_install.log",
        "ops": "ascend_ops_install.log",
        "nnal": "ascend_nnal_install.log",
    }[kind]
    folder = "/var/log/ascend_seclog" if users.current().uid == 0 else f"{_home()}/var/log/ascend_seclog"
    return f"{folder}/{name}"


def _home() -> str:
    return os.environ.get("HOME") or users.current().home


def carry_out(asked: Asked) -> None:
    kind = asked.manifest["kind"]
    prefix = _prefix(asked)
    asked.say("INFO", f"LogFile:{asked.log}")
    if asked.action == "--uninstall":
        _uninstall(asked, kind, prefix)
        return
    if asked.manifest["arch"] != "aarch64":
        raise Refused(f"the architecture of the run package is {asked.manifest['arch']}, but the host is aarch64.")
    question = "Do you accept the EULA to install CANN? [Y/N]"
    if not asked.agrees(question):
        raise Refused("The EULA is not accepted, install failed.")
    asked.say("INFO", "install start")
    asked.say("INFO", f"The installation path is {prefix}.")
    _may(asked, kind, prefix)
    _room(kind, prefix)
    for part in {
        "toolkit": ("runtime", "compiler", "hccl", "opp", "toolkit"),
        "ops": ("opp_kernel",),
        "nnal": ("atb",),
    }[kind]:
        asked.say("INFO", f"install package CANN-{part}-{asked.manifest['version']}-linux.aarch64.run start")
        installer.pause(0.2)
        asked.say("INFO", f"CANN-{part}-{asked.manifest['version']}-linux.aarch64.run --full --quiet install success")
    _write(asked, kind, prefix)
    room.claim(f"{kind} {asked.manifest['version']} {prefix}", prefix, SIZES[kind])
    _summary(asked, kind, prefix)


def _prefix(asked: Asked) -> str:
    """Where it goes: as asked, else where the toolkit went, else the usual place of root or of this user."""
    if path := asked.given.get("--install-path"):
        if not path.startswith("/"):
            raise Refused(f"ERR_NO:0x0003;ERR_DES:The installation path {path} is not absolute.")
        return path.rstrip("/")
    sourced = os.environ.get("ASCEND_TOOLKIT_HOME", "")
    if asked.manifest["kind"] != "toolkit" and sourced:
        return sourced.partition("/cann")[0].partition("/ascend-toolkit")[0]
    return tree.ASCEND if users.current().uid == 0 else f"{_home()}/Ascend"


def _may(asked: Asked, kind: str, prefix: str) -> None:
    version = asked.manifest["version"]
    if users.current().uid and not prefix.startswith(_home()):
        name = users.current().name
        raise Refused(f"ERR_NO:0x0093;ERR_DES:The {name} do not have the permission to access {prefix}, please reset "
                      "the directory to a right permission.")  # fmt: skip
    if kind == "toolkit":
        return
    if not place.at(tree.toolkit_folder(version, prefix)).is_dir():
        raise Refused(f"the Ascend-cann-toolkit {version} is not installed in {prefix}, please install it first.")
    if kind == "nnal" and not os.environ.get("ASCEND_HOME_PATH"):
        raise Refused(
            "The environment variable ASCEND_HOME_PATH is not set, please source the set_env.sh of the toolkit first."
        )


def _room(kind: str, prefix: str) -> None:
    free = room.of(prefix).free
    if free < SIZES[kind]:
        print("tar: opp/built-in: Cannot write: No space left on device", flush=True)
        raise Refused(
            f"The disk space of {prefix} is insufficient: {SIZES[kind] // 2**20} MB needed, {free // 2**20} MB free."
        )


def _write(asked: Asked, kind: str, prefix: str) -> None:
    version, arch = asked.manifest["version"], asked.manifest["arch"]
    if kind == "ops":
        tree.write_operators(version, arch, asked.manifest["package"], prefix)
    elif kind == "nnal":
        tree.write_nnal(version, arch, prefix)
    else:
        tree.write_toolkit(version, arch, prefix)
        if users.current().uid == 0:
            place.put(PATHS, f"version=1.0\nToolkit_InstallPath={prefix}\n")


def _summary(asked: Asked, kind: str, prefix: str) -> None:
    package = asked.file.removesuffix(".run")
    asked.say("INFO", f"{package} install success. The installation path is {prefix}.")
    script = f"{prefix}/nnal/atb/set_env.sh" if kind == "nnal" else f"{prefix}/ascend-toolkit/set_env.sh"
    if kind != "nnal" and versions.is_new_layout(asked.manifest["version"]):
        script = f"{prefix}/cann/set_env.sh"
    driver = place.read("driver").get("driver")
    title = {"toolkit": "Toolkit: ", "ops": "Ops:     ", "nnal": "NNAL:    "}[kind]
    print(
        "\n===========\n= Summary =\n===========\n\n"
        f"Driver:   {'Installed in /usr/local/Ascend/driver.' if driver else 'Not installed.'}\n"
        f"{title} {package} install success, installed in {prefix}.\n\n"
        "Please make sure that the environment variables have been configured.\n"
        f"-  To take effect for current user, you can exec command below: source {script}\n",
        flush=True,
    )


def _uninstall(asked: Asked, kind: str, prefix: str) -> None:
    version = asked.manifest["version"]
    folder = tree.toolkit_folder(version, prefix)
    inner = f"{folder}/{asked.manifest.get('arch', 'aarch64')}-linux"
    marks = {"toolkit": folder, "ops": f"{inner}/ascend_ops_install.info", "nnal": f"{prefix}/nnal/atb/{version}"}
    if not place.at(marks[kind]).exists():
        raise Refused(f"{asked.file} is not installed in {prefix}, uninstall failed.")
    installer.pause(0.3)
    if kind == "ops":
        place.at(marks[kind]).unlink()
        shutil.rmtree(place.at(f"{folder}/opp/built-in"), ignore_errors=True)
    else:
        shutil.rmtree(place.at(marks[kind]))
    _drop_links(kind, prefix)
    room.claim(f"{kind} {version} {prefix}", prefix, 0)
    asked.say("INFO", f"{asked.file.removesuffix('.run')} uninstall success.")


def _drop_links(kind: str, prefix: str) -> None:
    """Links that lead to nothing now, and environment scripts of nothing."""
    for link, scripts in (
        (f"{prefix}/cann", ()),
        (f"{prefix}/ascend-toolkit/latest", (f"{prefix}/ascend-toolkit/set_env.sh", PATHS)),
        (f"{prefix}/nnal/atb/latest", (f"{prefix}/nnal/atb/set_env.sh",)),
    ):
        place_of: Path = place.at(link)
        if place_of.is_symlink() and not place_of.exists():
            place_of.unlink()
            for script in scripts:
                place.at(script).unlink(missing_ok=True)
