"""What a vendor's file says of itself: kind, chip, version and architecture by its name, wholeness by its header."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from console.bundles.manifest import Order
from console.text import Text, say, verbatim

HEAD_BYTES = 262_144
_ARCH = r"(?P<arch>aarch64|x86[-_]64)"
_HDK = r"(?:Ascend-hdk-(?P<chip>[\w.-]+?)|Atlas-(?P<atlas>\w+)-hdk)"
_NAMES = (
    ("driver", rf"{_HDK}-npu-driver_(?P<version>[^_]+)_linux-{_ARCH}"),
    ("firmware", rf"{_HDK}-npu-firmware_(?P<version>[^_]+)"),
    ("toolkit", rf"Ascend-cann-toolkit_(?P<version>[^_]+)_linux-{_ARCH}"),
    ("nnal", rf"Ascend-cann-nnal_(?P<version>[^_]+)_linux-{_ARCH}"),
    ("ops", rf"Ascend-cann-kernels-(?P<chip>\w+)_(?P<version>[^_]+)_linux-{_ARCH}"),
    ("ops", rf"Atlas-(?P<atlas>\w+)-cann-kernels_(?P<version>[^_]+)_linux-{_ARCH}"),
    ("ops", rf"Ascend-cann-(?P<chip>\w+)-ops_(?P<version>[^_]+)_linux-{_ARCH}"),
)  # fmt: skip
_FAMILIES = {"910b": "A2", "910c": "A3", "a3": "A3", "310p": "310P", "950": "A5"}


@dataclass(frozen=True)
class VendorFile:
    """A file of the vendor by its name. `chip` "" and `arch` "": for all."""

    kind: str
    version: str
    chip: str
    arch: str

    @property
    def family(self) -> str:
        """The family of chips it is for, as the catalog names it; the chip itself where none is known; "" for all."""
        return _FAMILIES.get(self.chip.lower(), self.chip)


def vendor_file(name: str) -> VendorFile | None:
    """None for a name that is not of the vendor's making."""
    for kind, pattern in _NAMES:
        if found := re.fullmatch(pattern + r"\.run", name, re.IGNORECASE):
            parts = found.groupdict()
            chip = parts.get("chip") or parts.get("atlas") or ""
            return VendorFile(kind, parts["version"], chip, (parts.get("arch") or "").replace("-", "_").lower())
    return None


def strangeness(name: str, order: Order) -> Text | None:
    """Why a file of the vendor does not belong to this order; None when it may."""
    file = vendor_file(name)
    if file is None:
        return None
    if file.arch and file.arch != order.arch:
        return say("{name} is for {other}, the host is {arch}.", name=verbatim(name), other=file.arch, arch=order.arch)
    if file.family and order.family and file.family != order.family:
        return say(
            "{name} is for chips of {other}, the host has {family}.",
            name=verbatim(name),
            other=verbatim(file.chip),
            family=order.family,
        )
    if file.kind in ("toolkit", "nnal", "ops") and file.version.lower() != order.cann.lower():
        return say(
            "{name} is of CANN {other}, the stack needs {cann}.",
            name=verbatim(name),
            other=file.version,
            cann=order.cann,
        )
    return None


def look_alike(name: str, wanted: str) -> bool:
    """Whether a person may have brought `name` where `wanted` was meant: the same kind of file, or a renamed copy."""
    one, other = vendor_file(name), vendor_file(wanted)
    if one is not None and other is not None:
        return one.kind == other.kind
    stem = wanted.removesuffix(".run")
    return name != wanted and name.startswith(stem)


def wrong_with(path: Path, order: Order) -> Text | None:
    """What is wrong with a package that was brought: its name, what it calls itself, its own header."""
    return strangeness(path.name, order) or misnamed(path) or damage(path)


def damage(path: Path) -> Text | None:
    """What is wrong with a self-extracting archive, as far as its own header tells; None when nothing is seen."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        return say("{name} is empty. Fetch it again.", name=verbatim(path.name))
    if not head.startswith(b"#!"):
        kind = say("a web page") if head.lstrip()[:1] == b"<" else say("something else")
        return say(
            "{name} is no installer but {kind}: the download may have been answered by a login page. Fetch it again.",
            name=verbatim(path.name),
            kind=kind,
        )
    header = head.decode("latin-1")
    begin = _payload_begin(head, header)
    if begin is None:
        return None
    return _short(path, header, begin) or _changed(path, header, begin)


def label(path: Path) -> str:
    """What the archive calls itself, "" when it does not say."""
    with path.open("rb") as file:
        found = re.search(r"^label=[\"']?([^\"'\n]*)", file.read(HEAD_BYTES).decode("latin-1"), re.MULTILINE)
    return found[1] if found else ""


def misnamed(path: Path) -> Text | None:
    """Whether driver and firmware were mixed up: what the archive calls itself contradicts its name."""
    file, told = vendor_file(path.name), label(path).upper()
    for kind, other in (("driver", "FIRMWARE"), ("firmware", "DRIVER")):
        if file is not None and file.kind == kind and other in told and kind.upper() not in told:
            return say(
                "{name} calls itself “{label}” inside: the file was renamed, or mixed up with another.",
                name=verbatim(path.name),
                label=verbatim(label(path)),
            )
    return None


def _payload_begin(head: bytes, header: str) -> int | None:
    """Offset of the first byte behind the script, as makeself counts it in lines; None when it does not say."""
    lines = re.search(r"^skip=[\"']?(\d+)", header, re.MULTILINE)
    counted = re.search(r"head -n (\d+) [\"']?\$0", header)
    number = int(lines[1]) - (1 if 'tail -n "+$skip"' in header else 0) if lines else int(counted[1]) if counted else 0
    if number <= 0:
        return None
    place = 0
    for _ in range(number):
        place = head.find(b"\n", place) + 1
        if place == 0:
            return None
    return place


def _sizes(header: str) -> list[int]:
    found = re.search(r"^filesizes=[\"']?([\d ]+)", header, re.MULTILINE)
    return [int(one) for one in found[1].split()] if found else []


def _short(path: Path, header: str, begin: int) -> Text | None:
    sizes = _sizes(header)
    there = path.stat().st_size
    if sizes and there < begin + sum(sizes):
        return say(
            "{name} is cut short: {there} of {whole} bytes. Fetch it again.",
            name=verbatim(path.name),
            there=there,
            whole=begin + sum(sizes),
        )
    return None


def _changed(path: Path, header: str, begin: int) -> Text | None:
    for wanted, found in _digests(path, header, begin):
        if wanted != found:
            return say(
                "{name} is damaged: its content is not what its own checksum says. Fetch it again.",
                name=verbatim(path.name),
            )
    return None


def _digests(path: Path, header: str, begin: int) -> Iterator[tuple[str, str]]:
    """Checksum in the header and that of the payload; makeself writes zeros where it made none."""
    sizes = _sizes(header)
    for word, make in (("SHA", hashlib.sha256), ("sum", hashlib.sha256), ("MD5", hashlib.md5)):
        told = re.search(rf"^{word}=[\"']?([0-9a-f]+)", header, re.MULTILINE)
        if told is None or not told[1].strip("0"):
            continue
        digest, left = make(usedforsecurity=False), sizes[0] if sizes else None
        if len(told[1]) != digest.digest_size * 2:
            continue
        with path.open("rb") as file:
            file.seek(begin)
            while block := file.read(1_048_576 if left is None else min(1_048_576, left)):
                digest.update(block)
                left = None if left is None else left - len(block)
        yield told[1], digest.hexdigest()
        return
