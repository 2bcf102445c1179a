"""Whether a bundle is for a host, as far as the host has told about itself."""

from collections.abc import Iterator

from console.bundles.manifest import Order
from console.catalog.knowledge import Knowledge
from console.plans.refusals import Route
from console.plans.target import Target, dotted
from console.text import Text, say, verbatim


def misfits(order: Order, target: Target, known: Knowledge) -> tuple[Text, ...]:
    """Why an installation from this bundle would not go well there; nothing for what the host has not told."""
    return tuple(_misfits(order, target, known))


def _misfits(order: Order, target: Target, known: Knowledge) -> Iterator[Text]:
    if target.arch and target.arch != order.arch:
        yield say("The bundle is for {wanted}, this host is {found}.", wanted=order.arch, found=verbatim(target.arch))
    chip = known.called(target.chip)
    if chip is not None and order.family and chip.family != order.family:
        yield say(
            "The bundle is for chips of {wanted}, this host has {found}.",
            wanted=order.family,
            found=verbatim(target.chip),
        )
    if order.route != Route.VENV:
        return
    there = [dotted(one) for one in target.pythons]
    if there and order.python not in there:
        yield say(
            "The packages of the bundle are for Python {wanted}, this host has {found}. Build it again into another "
            "folder, with --python for a version that is there, or install Python {wanted} there first.",
            wanted=order.python,
            found=", ".join(there),
        )
    needed = tuple(int(part) for part in order.glibc.split(".")[:2] if part.isdigit())
    if target.glibc and needed > target.glibc:
        yield say(
            "The packages of the bundle may need a glibc up to {wanted}, this host has {found}. Build it again for the "
            "operating system of this host.",
            wanted=order.glibc,
            found=dotted(target.glibc),
        )
