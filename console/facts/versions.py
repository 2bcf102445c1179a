"""Version files of the driver, the firmware, CANN and NNAL, told apart by their keys."""

import re
from dataclasses import dataclass

from console.facts.lines import absent, lines
from console.facts.trouble import Trouble, trouble_in

_LINE = re.compile(r"^\s*([A-Za-z][\w .-]*?)\s*[=:：]\s*(.*?)\s*$")
_RUNNING = re.compile(r"\[([^:\]]+):([^\]]+)\]")


@dataclass(frozen=True)
class VersionFile:
    """What one version file says; only the fields of its kind are filled.

    for_all            whether every user may use the NPUs (ascend_install.info)
    complete           whether the driver's installer says it finished
    toolkit_internal   the internal number beside the public CANN version (version.cfg)
    kernels_installed  whether version.cfg lists the operator kernels package
    compatible_fw      lowest and highest firmware that fits the driver
    """

    driver: str | None = None
    firmware: str | None = None
    package_version: str | None = None
    ascendhal: str | None = None
    innerversion: str | None = None
    compatible_fw: tuple[str, ...] | None = None
    compatible_driver: tuple[str, ...] | None = None
    driver_path: str | None = None
    user: str | None = None
    group: str | None = None
    for_all: bool | None = None
    complete: bool | None = None
    package: str | None = None
    version: str | None = None
    build: str | None = None
    arch: str | None = None
    os: str | None = None
    path: str | None = None
    cann: str | None = None
    toolkit_internal: str | None = None
    kernels_installed: bool | None = None
    status: str = "ok"


def parse_version_file(text: str) -> VersionFile | Trouble:
    """A version.info, version.cfg, *_install.info or ascend_install.info."""
    values: dict[str, str] = {}
    for row in lines(text):
        match = _LINE.match(row)
        if match and not row.lstrip().startswith("#") and not absent(match.group(2)):
            values.setdefault(match.group(1).strip().lower(), match.group(2).strip("\"'"))
    for mark, read in _READERS:
        if any(re.fullmatch(mark, key) for key in values):
            return read(values)
    return trouble_in(text)


def _running(values: dict[str, str]) -> VersionFile:
    """version.cfg: `<component>_running_version=[internal:public]`."""
    found = {key: _RUNNING.fullmatch(value) for key, value in values.items() if key.endswith("_running_version")}
    toolkit = found.get("toolkit_running_version")
    public = {match.group(2) for match in found.values() if match}
    is_cut = any(match is None for match in found.values())
    has_kernels = any(key.startswith(("opp_kernel", "ops_kernel")) for key in found)
    return VersionFile(
        cann=toolkit.group(2) if toolkit else public.pop() if len(public) == 1 else None,
        toolkit_internal=toolkit.group(1) if toolkit else None,
        kernels_installed=True if has_kernels else None if is_cut or toolkit is None else False,
    )


def _install_info(values: dict[str, str]) -> VersionFile:
    return VersionFile(
        driver_path=values.get("driver_install_path_param"),
        user=values.get("username"),
        group=values.get("usergroup"),
        for_all={"yes": True, "no": False}.get(values.get("driver_install_for_all", "").lower()),
        complete=values["driver_install_status"] == "complete" if "driver_install_status" in values else None,
    )


def _package(values: dict[str, str]) -> VersionFile:
    return VersionFile(
        package=values.get("package_name"),
        version=values.get("version"),
        innerversion=values.get("innerversion"),
        arch=values.get("arch"),
        os=values.get("os"),
        path=values.get("path"),
    )


def _firmware(values: dict[str, str]) -> VersionFile:
    return VersionFile(
        firmware=values.get("version"),
        package_version=values.get("package_version"),
        compatible_driver=_range(values.get("compatible_version_drv")),
    )


def _driver(values: dict[str, str]) -> VersionFile:
    return VersionFile(
        driver=values.get("version"),
        package_version=values.get("package_version"),
        ascendhal=values.get("ascendhal_version"),
        innerversion=values.get("innerversion"),
        compatible_fw=_range(values.get("compatible_version_fw")),
    )


def _nnal(values: dict[str, str]) -> VersionFile:
    """Colon-separated and indented: `<package> : 8.0.0`, `<package> Version : <build>`, `Platform : aarch64`."""
    name = next(key for key in values if re.fullmatch(r"ascend-\S+", key))
    return VersionFile(
        package=name[:1].upper() + name[1:],
        version=values[name],
        build=values.get(f"{name} version"),
        arch=values.get("platform"),
    )


def _dated(values: dict[str, str]) -> VersionFile:
    """toolkit/version.info of CANN up to 8.3: `Version` is internal, `version_dir` the public version."""
    return VersionFile(
        cann=values.get("version_dir"), toolkit_internal=values.get("version"), version=values.get("version_dir")
    )


def _plain(values: dict[str, str]) -> VersionFile:
    return VersionFile(version=values.get("version"), innerversion=values.get("innerversion"))


def _range(words: str | None) -> tuple[str, ...] | None:
    parts = tuple(part.strip(" []") for part in (words or "").split(",") if part.strip(" []"))
    return parts or None


_READERS = (
    (r"\w+_running_version", _running),
    (r"driver_install_\w+|firmware_install_\w+", _install_info),
    (r"package_name", _package),
    (r"firmware_version|compatible_version_drv", _firmware),
    (r"ascendhal_version|compatible_version_fw", _driver),
    (r"ascend-\S+", _nnal),
    (r"version_dir", _dated),
    (r"version", _plain),
)
"""Pattern of a key that only this kind of file has -> its reader; the first that matches counts."""
