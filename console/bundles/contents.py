"""What belongs into the bundle of a stack, before anything of it is fetched."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from console.bundles.index import Wish, wishes
from console.bundles.manifest import IMAGES, Order
from console.catalog.knowledge import Knowledge
from console.plans.needs import NOT_KNOWN, Package
from console.plans.refusals import Route
from console.plans.resolve import Stack
from console.plans.target import Target, dotted
from console.text import Text, say, verbatim


@dataclass(frozen=True)
class ByHand:
    """A file that a person has to bring: its exact path in the bundle, and why."""

    path: str
    kind: str
    why: Text


@dataclass(frozen=True)
class Download:
    """A file at a known address."""

    path: str
    kind: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Contents:
    """`wheels`: the pinned list; `by_hand_wheels`: those of it no index has; `image`: what to save, and where."""

    order: Order
    by_hand: tuple[ByHand, ...]
    downloads: tuple[Download, ...]
    wheels: tuple[Wish, ...] = ()
    unlisted: bool = False
    vllm: str = ""
    image: str | None = None
    image_path: str = ""


def order_of(stack: Stack, target: Target, known: Knowledge) -> Order:
    """What a bundle for this stack on this kind of host is called."""
    chip = known.called(target.chip)
    system = known.systems[target.system]
    return Order(
        vllm_ascend=stack.release.vllm_ascend,
        vllm=stack.release.vllm,
        cann=stack.variant.cann,
        family=chip.family if chip else "",
        system=target.system,
        arch=target.arch,
        python=stack.python,
        glibc=dotted(target.glibc or system.glibc),
        route=stack.route,
    )


def contents(stack: Stack, target: Target, known: Knowledge, pinned: str) -> Contents:
    """`pinned` is the list of a venv with every package it needs; "" when the catalog has none for this stack."""
    order = order_of(stack, target, known)
    by_hand = list(_by_hand(stack.packages, order))
    downloads = tuple(_downloads(stack.packages, known))
    if stack.route is Route.DOCKER:
        image = stack.image or ""
        return Contents(order, tuple(by_hand), downloads, image=image, image_path=image_path(image, order.arch))
    listed = {one.name: one for one in wishes(pinned)}
    for wish in map(_wish, stack.packages):
        if wish is not None and wish.name not in listed:
            listed[wish.name] = wish
    listed.pop("vllm", None)
    return Contents(
        order, tuple(by_hand), downloads, tuple(listed[name] for name in sorted(listed)), not pinned, order.vllm
    )


def image_path(image: str, arch: str) -> str:
    """Where the archive of an image lies; its name ends with the tag, by which an installation finds it."""
    name, _, tag = image.rsplit("/", 1)[-1].partition(":")
    return f"{IMAGES}/{name}-{arch}-{tag or 'latest'}.tar"


def _wish(package: Package) -> Wish | None:
    """A pinned package of the stack as a line of the list, whether it is named by its file or by its version."""
    if package.kind != "python":
        return None
    if package.name.endswith(".whl"):
        name, version = package.name.split("-")[:2]
        return wishes(f"{name}=={version}")[0]
    return wishes(package.name)[0]


def _by_hand(packages: Sequence[Package], order: Order) -> Iterator[ByHand]:
    for one in packages:
        if one.kind not in ("driver", "firmware", "cann") or (one.address and not one.login):
            continue
        if NOT_KNOWN in one.name:
            why = say(
                "No source names its version. Take the one published for {cann}, from the support site of the vendor, "
                "where a login is needed; keep the name it has there.",
                cann=verbatim(f"CANN {order.cann}"),
            )
        elif one.login:
            why = say("It lies behind a login on the support site of the vendor. Fetch it there under just this name.")
        else:
            why = say("Its address is not known. Fetch it from the community downloads of CANN under just this name.")
        yield ByHand(one.name, one.kind, why)


def _downloads(packages: Sequence[Package], known: Knowledge) -> Iterator[Download]:
    for one in packages:
        if one.kind in ("driver", "firmware", "cann") and one.address and not one.login:
            name, _, value = known.places[one.place].header.partition(":")
            yield Download(one.name, one.kind, one.address, {name.strip(): value.strip()} if value else {})
