"""What a stack needs on a host before it runs: packages by their exact names, and the steps in order."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from console.catalog.ascend import Fit, order
from console.catalog.knowledge import Knowledge
from console.catalog.packages import Bundle
from console.catalog.releases import Python
from console.plans.refusals import Case, Route
from console.plans.target import Target, dotted, same_version
from console.text import Text, say, verbatim

NOT_KNOWN = "<version>"
"""Stands in a file name for a version that no source names."""
_DRIVER_ARCH = {"x86_64": "x86-64"}


class DriverState(StrEnum):
    """How the driver of the host goes with a stack. UNLISTED: no table of the vendor names the pair."""

    FITS = "fits"
    UNLISTED = "unlisted"
    UPGRADE = "upgrade"
    INSTALL = "install"


@dataclass(frozen=True)
class DriverNeed:
    """The state, the oldest driver that fits, what to fetch, and whether a newer one is wished all the same."""

    state: DriverState
    least: str
    bundle: Bundle | None
    below_wished: bool


@dataclass(frozen=True)
class Package:
    """One thing to fetch. `place`: an entry of the catalog's places, or by_hand; `address` None: none is known."""

    name: str
    kind: str
    place: str
    address: str | None = None
    login: bool = False


@dataclass(frozen=True)
class Need:
    """One thing to do, with a code for programs."""

    code: str
    text: Text


def driver_need(case: Case) -> DriverNeed:
    """What has to happen to the driver before this stack runs."""
    driver, release = case.target.driver, case.release
    rule = case.known.rule(case.variant.cann)
    least = max((one for one in (rule.least if rule else _neighbour(case), release.driver_least) if one), key=order)
    fetch = release.driver_fetch or (rule.fetch if rule else None)
    bundle = case.known.bundles.get(fetch.lower()) if fetch else None
    if driver is None:
        return DriverNeed(DriverState.INSTALL, least, bundle, False)
    fit = rule.fit(driver) if rule else Fit.UNLISTED
    if fit in (Fit.TOO_OLD, Fit.EXCLUDED) or order(driver) < order(least):
        return DriverNeed(DriverState.UPGRADE, least, bundle, False)
    wished = release.driver_wished is not None and order(driver) < order(release.driver_wished)
    return DriverNeed(DriverState.FITS if fit is Fit.FITS else DriverState.UNLISTED, least, bundle, wished)


def _neighbour(case: Case) -> str:
    """For a CANN release no table covers: the driver that the next older release asks for at least."""
    older = [rule for rule in case.known.rules if order(rule.cann) < order(case.variant.cann)]
    return max(older, key=lambda rule: order(rule.cann)).least if older else "0"


def driver_packages(case: Case, need: DriverNeed) -> list[Package]:
    """The files of driver and firmware in the order of their installation; none if the driver may stay."""
    if need.state not in (DriverState.INSTALL, DriverState.UPGRADE):
        return []
    found = bundle_files(case.known, case.family, case.target, need.bundle)
    return found if need.state is DriverState.INSTALL else found[::-1]


def bundle_files(known: Knowledge, family_name: str, target: Target, bundle: Bundle | None) -> list[Package]:
    """The files of a driver, then of the firmware published with it; a firmware that is there already is left out."""
    family, place = known.families.get(family_name), known.places["driver"]
    version, firmware = (bundle.file, bundle.firmware) if bundle else (NOT_KNOWN, None)
    found = []
    if family and family.driver:
        name = family.driver.format(version=version, arch=_DRIVER_ARCH.get(target.arch, target.arch))
        found.append(Package(name, "driver", place.id, place.address, place.login))
    if family and family.firmware and (firmware is None or firmware != target.firmware):
        name = family.firmware.format(version=firmware or NOT_KNOWN)
        found.append(Package(name, "firmware", place.id, place.address, place.login))
    return found


def cann_packages(case: Case) -> list[Package]:
    """Toolkit, operators and NNAL in this order; none if this release is there already, or inside the image."""
    cann = case.variant.cann
    if case.route is Route.DOCKER or (case.target.cann or "").lower() == cann.lower():
        return []
    return cann_files(case.known, case.family, case.target.arch, cann)


def cann_files(known: Knowledge, family: str, arch: str, cann: str) -> list[Package]:
    """The packages of one CANN release for a family, as the files are called."""
    names, place, folder = known.names(cann), known.places["cann"], known.folders.get(cann)
    if names is None:
        return []
    found = []
    for pattern in (names.toolkit, names.operators.get(family), names.nnal):
        if pattern is not None:
            file = pattern.format(version=cann, arch=arch)
            address = place.address.format(folder=folder, file=file) if folder and place.address else None
            found.append(Package(file, "cann", place.id, address, place.login))
    return found


def python_packages(case: Case, python: Python) -> list[Package]:
    """The source of vLLM, the wheels and the further pins of a venv."""
    found = [_from("pypi", f"vllm-{case.release.vllm}.tar.gz", "source", case)]
    is_x86 = case.target.arch == "x86_64"
    for wheel in case.wheels():
        if wheel.package == "torch" and is_x86:
            found.append(_from("torch_cpu", f"torch=={wheel.version}+cpu", "python", case))
            continue
        place = {"pypi": "pypi", "vendor": "vendor_index"}.get(wheel.where, "by_hand")
        found.append(_from(place, wheel.file(python, case.target.arch), "python", case))
    for name, version in case.release.pins.items():
        place = "torch_cpu" if is_x86 and name.startswith("torch") else "pypi"
        found.append(_from(place, f"{name}=={version}", "python", case))
    return found


def _from(place: str, name: str, kind: str, case: Case) -> Package:
    known = case.known.places.get(place)
    return Package(name, kind, place, known.address if known else None, known.login if known else False)


def image_package(case: Case) -> Package | None:
    """The image for this family, made of what is nearest to the host's system."""
    system, place = case.known.systems[case.target.system], case.known.places["image"]
    tag = case.release.image.tag(case.release.vllm_ascend, case.family, system.image)
    if tag is None or place.address is None:
        return None
    name = place.address.format(tag=tag)
    return Package(name, "image", place.id, name, place.login)


def steps(case: Case, need: DriverNeed, packages: list[Package], python: Python | None) -> Iterator[Need]:
    """What to do, in order."""
    yield from _driver_step(case, need, [one for one in packages if one.kind in ("driver", "firmware")])
    if case.route is Route.DOCKER:
        image = next(one.name for one in packages if one.kind == "image")
        yield Need("engine", say("Have Docker, or another engine for container images, run on the host."))
        yield Need("image", say("Pull the image {image}, or load it from an archive.", image=verbatim(image)))
        return
    yield from _cann_step(case, [one for one in packages if one.kind == "cann"])
    assert python is not None
    if python not in case.target.pythons:
        yield Need("python", say("Provide Python {version} with venv.", version=dotted(python)))
    yield Need("vllm", say("Build vLLM {version} with VLLM_TARGET_DEVICE=empty.", version=case.release.vllm))
    yield Need("packages", say("Install the pinned packages with --no-deps into an environment of their own."))
    if strange := [one.name for one in packages if one.place == "by_hand"]:
        text = say("Bring {packages} yourself: no index has them.", packages=verbatim(", ".join(strange)))
        yield Need("by_hand", text)
    if vendor := [one.name for one in packages if one.place == "vendor_index"]:
        names = verbatim(", ".join(vendor))
        yield Need("vendor_index", say("Take {packages} from the index of the vendor.", packages=names))
    if cpu := [one.name for one in packages if one.place == "torch_cpu"]:
        names = verbatim(", ".join(cpu))
        yield Need("torch_cpu_index", say("Take {packages} from the CPU index of PyTorch.", packages=names))


def _driver_step(case: Case, need: DriverNeed, packages: list[Package]) -> Iterator[Need]:
    names = verbatim(", ".join(one.name for one in packages))
    if need.state in (DriverState.INSTALL, DriverState.UPGRADE) and not packages:
        text = say(
            "Install a driver from {least} on and its firmware for {family}, then restart the host. Their file names "
            "are not known here.",
            least=need.least,
            family=case.known.families[case.family].title,
        )
        yield Need(f"driver_{need.state}", text)
    elif need.state is DriverState.INSTALL:
        text = say("Install driver and firmware in this order, then restart the host: {files}.", files=names)
        yield Need("driver_install", text)
    elif need.state is DriverState.UPGRADE:
        text = say(
            "Driver {driver} is too old, at least {least} is needed. Install in this order, then restart the host: "
            "{files}.",
            driver=case.target.driver,
            least=need.least,
            files=names,
        )
        yield Need("driver_upgrade", text)


def _cann_step(case: Case, packages: list[Package]) -> Iterator[Need]:
    if not packages:
        return
    files = verbatim(", ".join(one.name for one in packages))
    yield Need("cann", say("Install CANN {cann} in this order: {files}.", cann=case.variant.cann, files=files))
    if case.target.cann and not same_version(case.target.cann, case.variant.cann):
        text = say(
            "CANN {other} may stay beside it; the release whose set_env.sh is sourced last counts.",
            other=case.target.cann,
        )
        yield Need("cann_beside", text)
