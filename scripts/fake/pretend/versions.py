"""The texts of version files and environment scripts below /usr/local/Ascend, as the vendor's packages write them."""

import re

FIRMWARE_OF = {
    "24.1": "7.3.0.1.231",
    "25.0": "7.7.0.1.231",
    "25.2": "7.7.0.6.236",
    "25.5": "7.8.0.6.201",
    "26.0": "7.9.0.1.210",
}
"""Series of drivers -> the firmware of the same bundle; up to 25.0 as the vendor's install page pairs them."""
INNER = {"8.1": "C21SPC001B238", "8.5": "C25SPC001B212", "9.0": "C26SPC001B215", "9.1": "C27SPC001B210"}


def series(version: str) -> str:
    return ".".join(version.split(".")[:2])


def is_new_layout(cann: str) -> bool:
    """From 8.5 on a release lies in cann-<version> instead of ascend-toolkit/<version>."""
    return tuple(int(part) for part in series(cann).split(".")) >= (8, 5)


def firmware_range(driver: str) -> tuple[str, str]:
    """The firmware a driver accepts: one minor number beyond its own bundle."""
    own = FIRMWARE_OF.get(series(driver), "7.8.0.0.0").split(".")
    return "7.0.0", f"{own[0]}.{int(own[1]) + 1}.99"


def driver_info(version: str) -> str:
    low, high = firmware_range(version)
    return (
        f"Version={version}\nascendhal_version=7.35.23\naicpu_version=1.0\ntdt_version=1.0\nlog_version=1.0\n"
        "prof_version=2.0\ndvppkernels_version=1.1\ntsfw_version=1.0\nInnerversion=V100R001C23SPC006B201\n"
        "compatible_version=[V100R001C30],[V100R001C13],[V100R001C15],[V100R001C17]\n"
        f"compatible_version_fw=[{low},{high}]\npackage_version={version}\n"
    )


def firmware_info(version: str, bundle: str) -> str:
    return (
        f"Version={version}\nfirmware_version=1.0\npackage_version={bundle}\ncompatible_version_drv=[23.0.0,26.9.99]\n"
    )


def install_info(kept: dict[str, object]) -> str:
    """/etc/ascend_install.info of what is installed of driver and firmware."""
    pairs = {"UserName": kept.get("user", "HwHiAiUser"), "UserGroup": kept.get("group", "HwHiAiUser")}
    if kept.get("firmware"):
        pairs |= {"Firmware_Install_Type": "full", "Firmware_Install_Path_Param": "/usr/local/Ascend"}
    if kept.get("driver"):
        pairs |= {
            "Driver_Install_Type": "full",
            "Driver_Install_Path_Param": "/usr/local/Ascend",
            "Driver_Install_For_All": "yes" if kept.get("for_all") else "no",
            "Driver_Install_Mode": "normal",
            "Driver_Install_Status": "complete" if kept.get("complete", True) else "incomplete",
        }
    return "".join(f"{name}={value}\n" for name, value in pairs.items())


def package_info(package: str, version: str, arch: str, path: str) -> str:
    inner = INNER.get(series(version), "C20SPC001B250")
    return (
        f"package_name={package}\nversion={version}\ninnerversion=V100R001{inner}\n"
        "compatible_version=[V100R001C15],[V100R001C18],[V100R001C19],[V100R001C20],[V100R001C21],[V100R001C23]\n"
        f"arch={arch}\nos=linux\npath={path}\n"
    )


def running_versions(version: str, has_kernels: bool) -> str:
    """version.cfg of releases up to 8.3."""
    parts = ["runtime", "compiler", "opp", "toolkit", "aoe", "ncs", "hccl", *(["opp_kernel"] if has_kernels else [])]
    return "# version: 1.0\n" + "".join(f"{part}_running_version=[7.6.0.1.220:{version}]\n" for part in parts)


def nnal_info(version: str, arch: str) -> str:
    build = re.sub(r"\.?RC", ".RC", version)
    return (
        f"    Ascend-cann-atb : {version}\n    Ascend-cann-atb Version : {build}.B100\n    Platform : {arch}\n"
        f"    branch : br_release_cann_{version}_20260321\n    commit id : af0ec2e868267322b4fb7949da3ae7af769d9644\n"
    )


def toolkit_environment(folder: str) -> str:
    return f"""export ASCEND_TOOLKIT_HOME={folder}
export ASCEND_HOME_PATH={folder}
export ASCEND_AICPU_PATH={folder}
export ASCEND_OPP_PATH={folder}/opp
export TOOLCHAIN_HOME={folder}/toolkit
export LD_LIBRARY_PATH={folder}/lib64:/usr/local/Ascend/driver/lib64${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}
export PYTHONPATH={folder}/python/site-packages${{PYTHONPATH:+:$PYTHONPATH}}
export PATH={folder}/bin:$PATH
"""


def nnal_environment(folder: str) -> str:
    return f"""export ATB_HOME_PATH={folder}/latest/atb/cxx_abi_1
export LD_LIBRARY_PATH={folder}/latest/atb/cxx_abi_1/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}
export ATB_STREAM_SYNC_EVERY_KERNEL_ENABLE=0
"""
