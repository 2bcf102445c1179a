"""Programs and files that come and go with packages: tools, kernel headers, links to simulated programs."""

import shutil

from pretend import place

TOOLS = {"numactl": "numactl", "dkms": "dkms"}
"""Package -> the simulated program it brings; other packages bring nothing but their name."""


def refresh(played: place.Data) -> None:
    """Bring files in line with the installed packages and this checkout's place."""
    installed = place.read("packages").get("installed", {})
    for package, program in TOOLS.items():
        path = f"/usr/local/bin/{program}"
        if package in installed:
            place.link(path, place.RUNNER)
        elif place.at(path).is_symlink():
            place.at(path).unlink()
    for path in ("/usr/local/bin/npu-smi", "/usr/local/Ascend/driver/tools/hccn_tool"):
        if place.at(path).is_symlink():
            place.link(path, place.RUNNER)
    _headers(played, installed)


def headers_of(release: str) -> tuple[str, ...]:
    """The packages any of which brings the headers of a kernel."""
    return f"linux-headers-{release}", f"kernel-devel-{release}", f"kernel-devel-{release.removesuffix('.aarch64')}"


def _headers(played: place.Data, installed: place.Data) -> None:
    release = played["kernel"]["release"]
    modules = f"/lib/modules/{release}"
    place.put(f"{modules}/modules.dep", "")
    if set(headers_of(release)) & set(installed):
        place.put(f"{modules}/build/Makefile", f"# headers of {release}, simulated\n")
    else:
        shutil.rmtree(place.at(f"{modules}/build"), ignore_errors=True)
