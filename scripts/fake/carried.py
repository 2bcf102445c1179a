"""What has been carried over by hand to a rehearsal host: the packages its stacks need, as small stand-ins.

A person would have fetched them from the vendor and the package index. Which they are stands in stacks.json, which
scripts/read_stacks.py writes. Nothing here is on the way of ordinary `pip install`: a real runtime for the CPU may be
installed on the same host, and pip would take a stand-in for PyTorch as gladly as PyTorch.
"""

import io
import json
import re
import tarfile
from pathlib import Path

import make_package
import make_wheels

STACKS = Path(__file__).resolve().parent / "stacks.json"
SIZE_MB = 0.01
FILES = (
    ("driver", r"Ascend-hdk-(?P<chip>.+)-npu-driver_(?P<version>[^_]+)_linux-(?P<arch>.+)\.run"),
    ("firmware", r"Ascend-hdk-(?P<chip>.+)-npu-firmware_(?P<version>[^_]+)\.run"),
    ("toolkit", r"Ascend-cann-toolkit_(?P<version>[^_]+)_linux-(?P<arch>.+)\.run"),
    ("nnal", r"Ascend-cann-nnal_(?P<version>[^_]+)_linux-(?P<arch>.+)\.run"),
    ("ops", r"Ascend-cann-kernels-(?P<chip>[^_]+)_(?P<version>[^_]+)_linux-(?P<arch>.+)\.run"),
    ("ops", r"Ascend-cann-(?P<chip>[^_]+)-ops_(?P<version>[^_]+)_linux-(?P<arch>.+)\.run"),
    ("ops", r"Atlas-(?P<chip>A3)-cann-kernels_(?P<version>[^_]+)_linux-(?P<arch>.+)\.run"),
)
ABOUT = """\
These packages were carried over by hand, as to a host without a network. They are small stand-ins with the names and
versions of the real ones and install on this rehearsal host only: files of the vendor (*.run), wheels/ and images/.
"""


def write(scenario: str, work: Path) -> None:
    """The packages of the best stack in `packages` of the work folder; those of others beside it, by their release."""
    for number, stack in enumerate(json.loads(STACKS.read_text("utf-8")).get(scenario, [])):
        folder = work / ("packages" if number == 0 else f"packages-{stack['release']}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "about.txt").write_text(ABOUT)
        drivers = [found["version"] for name in stack["files"] if (found := re.fullmatch(FILES[0][1], name))]
        for name in stack["files"]:
            package(folder / name, bundle=(drivers or [""])[0])
        for name, version in stack["wheels"].items():
            make_wheels.write(folder / "wheels", name, version)
        for image in stack["images"]:
            archive(folder / "images", image)


def package(file: Path, bundle: str) -> None:
    """The installer of this name; `bundle` is the driver that a firmware belongs to."""
    for kind, pattern in FILES:
        if found := re.fullmatch(pattern, file.name):
            told = found.groupdict()
            of = bundle if kind == "firmware" else ""
            arch = (told.get("arch") or "aarch64").replace("-", "_")
            make_package.write(kind, told["version"], told.get("chip", ""), file, arch=arch, size_mb=SIZE_MB, bundle=of)
            return
    raise ValueError(f"{file.name} is not named as a package of the vendor")


def archive(folder: Path, image: str) -> None:
    """What `docker save` would write of an image, without its layers."""
    folder.mkdir(exist_ok=True)
    text = json.dumps([{"Config": "config.json", "RepoTags": [image], "Layers": []}]).encode()
    with tarfile.open(folder / f"{image.rpartition('/')[2].replace(':', '-')}.tar", "w") as packed:
        member = tarfile.TarInfo("manifest.json")
        member.size = len(text)
        packed.addfile(member, io.BytesIO(text))
