"""What installers write and remove below /usr/local/Ascend, and what is remembered about it."""

import shutil

from pretend import place, versions

ASCEND = "/usr/local/Ascend"


def program(path: str) -> None:
    """A simulated program at the place where the real one of this name is installed."""
    place.link(path, place.RUNNER)


def write_driver(version: str, *, for_all: bool, user: str = "HwHiAiUser", group: str = "HwHiAiUser") -> None:
    """The driver's files; it works from the next boot on."""
    folder = f"{ASCEND}/driver"
    place.put(f"{folder}/version.info", versions.driver_info(version))
    for name in ("libascend_hal.so", "libdcmi.so", "libdrvdsmi_host.so"):
        place.put(f"{folder}/lib64/driver/{name}", "simulated\n")
    place.put("/usr/local/dcmi/libdcmi.so", "simulated\n")
    _uninstaller("driver")
    program("/usr/local/bin/npu-smi")
    program(f"{folder}/tools/hccn_tool")
    with place.changing("driver") as kept:
        kept |= {"driver": version, "for_all": for_all, "user": user, "group": group, "complete": True}
    _tell()


def write_firmware(version: str, bundle: str) -> None:
    place.put(f"{ASCEND}/firmware/version.info", versions.firmware_info(version, bundle))
    _uninstaller("firmware")
    with place.changing("driver") as kept:
        kept |= {"firmware": version}
    _tell()


def _uninstaller(what: str) -> None:
    runner = f'exec "$(cat {place.where(place.RUN)}/fake)/pretend/ascend-uninstall" {what} "$@"'
    place.put(f"{ASCEND}/{what}/script/uninstall.sh", f"#!/bin/sh\n{runner}\n", 0o755)


def remove_driver() -> None:
    shutil.rmtree(place.at(f"{ASCEND}/driver"), ignore_errors=True)
    place.at("/usr/local/bin/npu-smi").unlink(missing_ok=True)
    shutil.rmtree(place.at("/usr/local/dcmi"), ignore_errors=True)
    with place.changing("driver") as kept:
        kept |= {"driver": None, "complete": True}
    _tell()


def remove_firmware() -> None:
    shutil.rmtree(place.at(f"{ASCEND}/firmware"), ignore_errors=True)
    with place.changing("driver") as kept:
        kept |= {"firmware": None}
    _tell()


def _tell() -> None:
    kept = place.read("driver")
    if kept.get("driver") or kept.get("firmware"):
        place.put("/etc/ascend_install.info", versions.install_info(kept))
    else:
        place.at("/etc/ascend_install.info").unlink(missing_ok=True)


def toolkit_folder(version: str, prefix: str = ASCEND) -> str:
    return f"{prefix}/cann-{version}" if versions.is_new_layout(version) else f"{prefix}/ascend-toolkit/{version}"


def write_toolkit(version: str, arch: str, prefix: str = ASCEND) -> None:
    folder = toolkit_folder(version, prefix)
    inner = f"{folder}/{arch}-linux"
    place.put(
        f"{inner}/ascend_toolkit_install.info", versions.package_info("Ascend-cann-toolkit", version, arch, inner)
    )
    for name in ("lib64/libascendcl.so", "lib64/libhccl.so", "opp/version.info", "python/site-packages/acl.py"):
        place.put(f"{folder}/{name}", "")
    if versions.is_new_layout(version):
        place.link(f"{prefix}/cann", f"cann-{version}")
        place.link(f"{prefix}/ascend-toolkit/latest", f"../cann-{version}")
        place.put(f"{folder}/set_env.sh", versions.toolkit_environment(f"{prefix}/cann"))
    else:
        place.link(f"{prefix}/ascend-toolkit/latest", version)
        place.put(f"{folder}/version.cfg", versions.running_versions(version, has_kernels=False))
        place.put(f"{folder}/toolkit/version.info", f"Version=7.6.0.1.220\nversion_dir={version}\ntimestamp=20260321\n")
    place.put(f"{prefix}/ascend-toolkit/set_env.sh", versions.toolkit_environment(f"{prefix}/ascend-toolkit/latest"))


def write_operators(version: str, arch: str, package: str, prefix: str = ASCEND) -> None:
    folder = toolkit_folder(version, prefix)
    inner = f"{folder}/{arch}-linux"
    place.put(f"{folder}/opp/built-in/op_impl/kernel.bin", "simulated\n")
    if versions.is_new_layout(version):
        place.put(f"{inner}/ascend_ops_install.info", versions.package_info(package, version, arch, inner))
    else:
        place.put(f"{folder}/version.cfg", versions.running_versions(version, has_kernels=True))


def write_nnal(version: str, arch: str, prefix: str = ASCEND) -> None:
    folder = f"{prefix}/nnal/atb"
    place.put(f"{folder}/{version}/version.info", versions.nnal_info(version, arch))
    place.put(f"{folder}/{version}/atb/cxx_abi_1/lib/libatb.so", "simulated\n")
    place.link(f"{folder}/latest", version)
    place.put(f"{folder}/set_env.sh", versions.nnal_environment(folder))
