"""Files that a person dropped into a bundle where another was meant: why each is not that one, and what to do."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from console.bundles import vendor
from console.bundles.index import Wish, tags
from console.bundles.manifest import Order
from console.text import Text, say, verbatim

UNFINISHED = (".crdownload", ".download", ".partial", ".tmp", ".aria2")
"""How browsers and download tools call what has not arrived yet."""
_TOLD = (("firmware", "FIRMWARE"), ("driver", "DRIVER"), ("toolkit", "TOOLKIT"), ("nnal", "NNAL"), ("ops", "OPS"),
         ("ops", "KERNELS"))  # fmt: skip


def foreign(path: str, order: Order) -> Text | None:
    """Why a file does not fit the host the bundle is for, by its name alone."""
    name = path.rsplit("/", 1)[-1]
    if not name.endswith(".whl"):
        return vendor.strangeness(name, order)
    try:
        _, _, _, of = parse_wheel_filename(name)
    except InvalidWheelFilename:
        return say("{name} is no name of a wheel.", name=verbatim(name))
    if any(tag in of for tag in tags(order.arch, order.python, order.glibc)):
        return None
    return say(
        "{name} does not fit Python {python} on {arch} with glibc {glibc}.",
        name=verbatim(name),
        python=order.python,
        arch=order.arch,
        glibc=order.glibc,
    )


def instead(name: str, wanted: str, order: Order) -> Text:
    """Why a file that looks like the one that is wanted is not it."""
    if (strange := foreign(name, order)) is not None:
        return strange
    one, other = vendor.vendor_file(name), vendor.vendor_file(wanted)
    if one is not None and other is not None and one.version.lower() != other.version.lower():
        return say(
            "{name} is version {found}; this stack takes {version}.",
            name=verbatim(name),
            found=one.version,
            version=other.version,
        )
    return say(
        "{name} may be the right file under another name. If so, call it just {wanted}.",
        name=verbatim(name),
        wanted=verbatim(wanted),
    )


def alike(folder: Path, wanted: str, order: Order) -> Iterator[Text]:
    """What is said of each file in `folder` that may have been brought in place of `wanted`."""
    for path in sorted(one for one in folder.iterdir() if one.is_file() and one.suffix == ".run"):
        if vendor.look_alike(path.name, wanted):
            yield instead(path.name, wanted, order)
        elif (text := _by_label(path, [wanted])) is not None:
            yield text


def wheels_alike(folder: Path, wish: Wish, order: Order) -> Iterator[Text]:
    """What is said of each wheel of this release in `folder` that does not fit the host."""
    for path in sorted(folder.glob("*.whl")):
        try:
            name, version, _, _ = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue
        same = name == wish.name and str(version).partition("+")[0] == wish.version.partition("+")[0]
        if same and (text := foreign(path.name, order)) is not None:
            yield text


def told(path: Path, wanted: Sequence[str], order: Order) -> Text | None:
    """What is said of a file that no manifest lists, if it may be one of those that are wanted; None when it may not.

    `wanted`: paths in the bundle.
    """
    for one in wanted:
        if vendor.look_alike(path.name, one):
            return instead(path.name, one, order)
    return _by_label(path, wanted)


def _by_label(path: Path, wanted: Sequence[str]) -> Text | None:
    """A package under a name that says nothing: what it calls itself inside may."""
    if path.suffix != ".run" or vendor.vendor_file(path.name) is not None:
        return None
    label = vendor.label(path)
    kind = next((kind for kind, word in _TOLD if word in label.upper()), "")
    for one in wanted:
        file = vendor.vendor_file(one)
        if kind and file is not None and file.kind == kind:
            return say(
                "{name} calls itself “{label}” inside. If it is the one that is wanted, call it just {wanted}.",
                name=verbatim(path.name),
                label=verbatim(label),
                wanted=verbatim(one),
            )
    return None


def joined(texts: Sequence[Text]) -> Text:
    """Several sentences as one text."""
    whole = texts[0]
    for one in texts[1:]:
        whole = say("{first} {second}", first=whole, second=one)
    return whole
