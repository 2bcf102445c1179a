"""Why a release does not go on a host: the first reason, in an order that never changes."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from console.catalog.knowledge import Knowledge
from console.catalog.profiles import Words
from console.catalog.releases import Python, Release, Variant, Wheel
from console.plans.target import Target, dotted
from console.text import Text, say, verbatim


class Route(StrEnum):
    """A way to run the engine: the container image, or a Python environment on the host itself."""

    DOCKER = "docker"
    VENV = "venv"


class Code(StrEnum):
    """Reasons, in the order in which they are looked for."""

    CHIP_UNKNOWN = "chip_unknown"
    CHIP_UNSUPPORTED = "chip_unsupported"
    ARCH_UNSUPPORTED = "arch_unsupported"
    SYSTEM_UNKNOWN = "os_unknown"
    SYSTEM_ARCH = "os_other_arch"
    CHIP_NOT_IN_RELEASE = "chip_not_in_release"
    VARIANT_EXCLUDES = "variant_excludes"
    IMAGE_MISSING = "image_missing"
    CONTAINERS_ONLY = "containers_only"
    SOURCE_ONLY = "source_only"
    WHEEL_OTHER_CHIP = "wheel_other_chip"
    PYTHON = "python"
    WHEEL_ARCH = "wheel_arch"
    GLIBC = "glibc"


@dataclass(frozen=True)
class Reason:
    """Why not: a code for programs, words for people, and `detail` from the catalog in both languages."""

    code: Code
    text: Text
    detail: Words | None = None


@dataclass(frozen=True)
class Case:
    """One question: this release on this variant, by this route, on this host."""

    target: Target
    release: Release
    variant: Variant
    route: Route
    known: Knowledge

    @property
    def family(self) -> str:
        """The family of the chip; "" if the chip is not known."""
        chip = self.known.called(self.target.chip)
        return chip.family if chip else ""

    def wheels(self) -> list[Wheel]:
        """The files of the pins a venv gets as wheels, vllm-ascend first."""
        pins = [("vllm-ascend", self.release.vllm_ascend), ("torch", self.release.torch)]
        pins.append(("torch-npu", self.variant.torch_npu))
        if self.variant.triton_ascend and self.family != "310P":
            pins.append(("triton-ascend", self.variant.triton_ascend))
        return [self.known.wheels[pin] for pin in pins]

    def pythons(self) -> list[Python]:
        """Versions that the release and every pin with known files allow, newest first."""
        lowest, highest = self.release.python
        allowed = [(3, minor) for minor in range(lowest[1], highest[1] + 1)]
        known = [wheel.pythons for wheel in self.wheels() if wheel.pythons is not None]
        return [one for one in reversed(allowed) if all(one in pythons for pythons in known)]

    def glibc(self) -> tuple[int, int] | None:
        """That of the host, else what its system is known to bring."""
        system = self.known.systems.get(self.target.system)
        return self.target.glibc or (system.glibc if system else None)


def first_reason(case: Case) -> Reason | None:
    """The first reason against it, None if there is none."""
    return next(_reasons(case), None)


def _reasons(case: Case) -> Iterator[Reason]:
    yield from _host(case)
    yield from _release(case)
    yield from _image(case) if case.route is Route.DOCKER else _wheels(case)


def _host(case: Case) -> Iterator[Reason]:
    """What no release can help."""
    target, known = case.target, case.known
    chip = known.called(target.chip)
    if not target.chip:
        yield Reason(Code.CHIP_UNKNOWN, say("No NPU was named or seen, so its chip is not known."))
    elif chip is None:
        names = verbatim(", ".join(name for one in known.chips if one.supported for name in one.names))
        seen = verbatim(target.chip)
        yield Reason(Code.CHIP_UNKNOWN, say("The chip {chip} is not known. Known are {names}.", chip=seen, names=names))
    elif not chip.supported:
        yield Reason(Code.CHIP_UNSUPPORTED, unsupported(target.chip, chip.family))
    archs = sorted({arch for system in known.systems.values() for arch in system.archs})
    if target.arch not in archs:
        text = say(
            "Packages exist for {archs}, not for {arch}.", archs=" / ".join(archs), arch=verbatim(target.arch or "?")
        )
        yield Reason(Code.ARCH_UNSUPPORTED, text)
    system = known.systems.get(target.system)
    if system is None:
        text = say(
            "The operating system {system} stands on no list of the vendor that was read. Listed are {names}.",
            system=verbatim(target.system or "?"),
            names=verbatim(", ".join(sorted(known.systems))),
        )
        yield Reason(Code.SYSTEM_UNKNOWN, text)
    elif target.arch not in system.archs:
        archs_there = " / ".join(system.archs)
        text = say("{system} stands on the lists for {archs} only.", system=system.title, archs=archs_there)
        yield Reason(Code.SYSTEM_ARCH, text)


def unsupported(name: str, family: str) -> Text:
    """Why no release runs on a chip of the first generation or of the edge."""
    if family == "first":
        return say(
            "The chip {chip} is a first-generation Ascend 910, which vLLM Ascend does not support: it has no bfloat16, "
            "and support is not planned. The chips that are supported carry a digit behind the B, such as 910B4.",
            chip=verbatim(name),
        )
    return say("The chip {chip} is made for small devices; vLLM Ascend does not support it.", chip=verbatim(name))


def _release(case: Case) -> Iterator[Reason]:
    release, variant, family = case.release, case.variant, case.family
    if family not in release.chips:
        text = say(
            "vllm-ascend {version} is for chips of {families}, not of {family}.",
            version=release.vllm_ascend,
            families=", ".join(release.chips),
            family=family,
        )
        yield Reason(Code.CHIP_NOT_IN_RELEASE, text)
    if (variant.archs and case.target.arch not in variant.archs) or (variant.chips and family not in variant.chips):
        text = say(
            "vllm-ascend {version} on CANN {cann} is not for this host.", version=release.vllm_ascend, cann=variant.cann
        )
        yield Reason(Code.VARIANT_EXCLUDES, text, variant.why)


def _image(case: Case) -> Iterator[Reason]:
    release, variant = case.release, case.variant
    if not variant.image:
        text = say(
            "The image of vllm-ascend {version} has another CANN inside than {cann}.",
            version=release.vllm_ascend,
            cann=variant.cann,
        )
        yield Reason(Code.IMAGE_MISSING, text)
    elif case.family not in release.image.suffix:
        text = say(
            "There is no image of vllm-ascend {version} for chips of {family}.",
            version=release.vllm_ascend,
            family=case.family,
        )
        yield Reason(Code.IMAGE_MISSING, text)


def _wheels(case: Case) -> Iterator[Reason]:
    system = case.known.systems.get(case.target.system)
    if system is not None and Route.VENV not in system.routes:
        text = say("On {system} only the container image runs.", system=system.title)
        yield Reason(Code.CONTAINERS_ONLY, text, system.why)
    own = case.wheels()[0]
    if own.only_source:
        text = say(
            "vllm-ascend {version} lies on PyPI as a source archive only, which needs CANN and a compiler to build. "
            "Take its container image, or a release with wheels.",
            version=own.version,
        )
        yield Reason(Code.SOURCE_ONLY, text)
    if own.chips is not None and case.family not in own.chips:
        text = say(
            "The wheel of vllm-ascend {version} on PyPI is built for chips of {families} and stops at its start on "
            "{family}. Take the container image for {family}.",
            version=own.version,
            families=", ".join(own.chips),
            family=case.family,
        )
        yield Reason(Code.WHEEL_OTHER_CHIP, text)
    yield from _python(case)
    yield from _files(case)


def _python(case: Case) -> Iterator[Reason]:
    allowed, there = case.pythons(), case.target.pythons
    if there and not set(allowed) & set(there):
        text = say(
            "vllm-ascend {version} and its packages have wheels for Python {wanted}; this host has {found}. Install "
            "one of them beside it.",
            version=case.release.vllm_ascend,
            wanted=", ".join(map(dotted, reversed(allowed))),
            found=", ".join(map(dotted, there)),
        )
        yield Reason(Code.PYTHON, text)


def _files(case: Case) -> Iterator[Reason]:
    arch, glibc = case.target.arch, case.glibc()
    for wheel in case.wheels():
        named = verbatim(f"{wheel.package} {wheel.version}")
        if wheel.tags and arch not in wheel.tags:
            yield Reason(Code.WHEEL_ARCH, say("There is no wheel of {package} for {arch}.", package=named, arch=arch))
        needed = wheel.glibc(arch)
        if needed and glibc and glibc < needed:
            text = say(
                "The wheel of {package} needs glibc {needed}; this host has {found}. Take the container image.",
                package=named,
                needed=dotted(needed),
                found=dotted(glibc),
            )
            yield Reason(Code.GLIBC, text)
