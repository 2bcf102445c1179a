"""From what a host is to every stack that fits it, best first, and for each that does not the first reason why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from console.catalog.knowledge import Knowledge
from console.catalog.profiles import Words
from console.catalog.releases import Python, Release, Variant, release_order
from console.plans.needs import (
    DriverNeed,
    DriverState,
    Need,
    Package,
    cann_packages,
    driver_need,
    driver_packages,
    image_package,
    python_packages,
    steps,
)
from console.plans.refusals import Case, Reason, Route, first_reason
from console.plans.target import Target, dotted
from console.text import Text, render, say

Note = Text | Words
"""A remark: a sentence of ours, or one of the catalog in both languages."""
_PROOFS = {
    "proved": say("The pinned set was seen to resolve on {date}."),
    "emulated": say("The pinned set was seen to resolve on {date}, with one pin standing in for another index."),
    "unreachable": say("Whether the pinned set resolves is not known: on {date} an index could not be asked."),
    "fails": say("As one set it did not resolve on {date}; the list of pins is installed without resolving."),
}


@dataclass(frozen=True)
class Stack:
    """Versions that go together on this host. `image` only for containers; `rank` counts from 1, the best."""

    release: Release
    variant: Variant
    route: Route
    python: str
    image: str | None
    driver: DriverNeed
    packages: tuple[Package, ...]
    steps: tuple[Need, ...]
    notes: tuple[Note, ...]
    rank: int = 0

    def plain(self) -> dict[str, object]:
        """For JSON."""
        return {
            "vllm_ascend": self.release.vllm_ascend,
            "vllm": self.release.vllm,
            "cann": self.variant.cann,
            "torch": self.release.torch,
            "torch_npu": self.variant.torch_npu,
            "triton_ascend": self.variant.triton_ascend,
            "python": self.python,
            "route": self.route,
            "image": self.image,
            "stable": self.release.stable,
            "rank": self.rank,
            "driver": self.driver.state,
            "driver_minimum": self.driver.least,
            "packages": [one.name for one in self.packages],
            "fetch": [vars(one) for one in self.packages],
            "steps_needed": [{"code": one.code, "text": str(one.text)} for one in self.steps],
            "notes": [in_language(note, "en") for note in self.notes],
            "source": self.release.source,
        }


@dataclass(frozen=True)
class Refused:
    """A release that does not go on this host by this route, and the first reason."""

    release: Release
    variant: Variant
    route: Route
    reason: Reason

    def plain(self) -> dict[str, object]:
        """For JSON."""
        return {
            "vllm_ascend": self.release.vllm_ascend,
            "cann": self.variant.cann,
            "route": self.route,
            "reason": self.words("en"),
            "code": self.reason.code,
        }

    def words(self, language: str) -> str:
        said = render(self.reason.text, language)
        if self.reason.detail is None:
            return said
        return render(say("{reason} The reason: {detail}.", reason=said, detail=self.reason.detail[language]), language)


@dataclass(frozen=True)
class Resolution:
    """Everything about one host."""

    target: Target
    stacks: tuple[Stack, ...]
    refused: tuple[Refused, ...]

    def plain(self) -> dict[str, object]:
        """For JSON."""
        return {
            "host": self.target.plain(),
            "stacks": [one.plain() for one in self.stacks],
            "refused": [one.plain() for one in self.refused],
        }


def in_language(note: Note, language: str) -> str:
    return render(note, language) if isinstance(note, Text) else note[language]


def resolve(target: Target, known: Knowledge, routes: Sequence[Route] = tuple(Route)) -> Resolution:
    """Every release of the catalog by every route: as a stack for each variant that fits, or with the reason against
    its usual variant."""
    stacks: list[Stack] = []
    refused: list[Refused] = []
    for release in known.releases:
        for route in routes:
            cases = [Case(target, release, variant, route, known) for variant in release.variants]
            reasons = [first_reason(case) for case in cases]
            stacks += [_stack(case) for case, reason in zip(cases, reasons, strict=True) if reason is None]
            if (reason := reasons[0]) is not None and None not in reasons:
                refused.append(Refused(release, release.variants[0], route, reason))
    ordered = sorted(stacks, key=_worth)
    ranked = [replace(one, rank=rank) for rank, one in enumerate(ordered, 1)]
    return Resolution(target, tuple(_with_outlook(one, ranked) for one in ranked), tuple(refused))


def _worth(stack: Stack) -> tuple[bool, bool, bool, tuple[int, ...], int, bool, int]:
    """Stable before pre-release; the driver may stay before it must change; listed before not; new before old."""
    changes = stack.driver.state in (DriverState.INSTALL, DriverState.UPGRADE)
    numbers, candidate, post, _ = release_order(stack.release.vllm_ascend)
    newest = tuple(-number for number in (*numbers, *[0] * (4 - len(numbers)), candidate, post))
    unlisted = stack.driver.state is DriverState.UNLISTED
    by_hand = sum(package.place == "by_hand" for package in stack.packages)
    position = stack.release.variants.index(stack.variant)
    return not stack.release.stable, changes, unlisted, newest, by_hand, stack.route is Route.VENV, position


def _stack(case: Case) -> Stack:
    need = driver_need(case)
    packages = [*driver_packages(case, need), *cann_packages(case)]
    python: Python | None = None
    image = None
    if case.route is Route.VENV:
        there = case.target.pythons
        python = next(one for one in case.pythons() if not there or one in there)
        packages += python_packages(case, python)
    elif (found := image_package(case)) is not None:
        image = found.name
        packages.append(found)
    return Stack(
        release=case.release,
        variant=case.variant,
        route=case.route,
        python=case.release.image.python if python is None else dotted(python),
        image=image,
        driver=need,
        packages=tuple(packages),
        steps=tuple(steps(case, need, packages, python)),
        notes=tuple(_notes(case, need)),
    )


def _notes(case: Case, need: DriverNeed) -> Iterator[Note]:
    release = case.release
    if not release.stable:
        yield say("This is a pre-release: for trying it out, not for a pilot that has to last.")
    values = {
        "vllm": release.vllm,
        "vllm_ascend": release.vllm_ascend,
        "cann": case.variant.cann,
        "driver_wished": release.driver_wished or "",
    }
    yield from release.notes
    for trap in case.known.traps:
        if trap.belongs(_situation(case, need)):
            yield {language: words.format(**values) for language, words in trap.text.items()}
    if case.route is Route.VENV:
        yield from _venv_notes(case)
    system = case.known.systems[case.target.system]
    if case.family not in system.chips:
        yield say(
            "{system} stands on no list of drivers for chips of {family} that was read. It may work all the same.",
            system=system.title,
            family=case.family,
        )


def _situation(case: Case, need: DriverNeed) -> Mapping[str, str]:
    return {
        "route": case.route,
        "arch": case.target.arch,
        "chip": case.family,
        "system": case.target.system,
        "driver": f"{need.state}{' below_wished' if need.below_wished else ''}",
        "release": case.release.vllm_ascend,
        "cann": case.variant.cann,
    }


def _venv_notes(case: Case) -> Iterator[Note]:
    if (joint := case.release.joint) is not None:
        yield {
            language: render(say("Why pip cannot resolve both at once: {why}.", why=words), language)
            for language, words in joint.items()
        }
    if (proof := case.release.proof.get(case.target.arch)) is not None:
        text = Text(_PROOFS[proof.verdict].sentence, {"date": proof.date.isoformat()})
        yield {language: f"{render(text, language)} ({words})" for language, words in proof.why.items()}


def _with_outlook(stack: Stack, ranked: Sequence[Stack]) -> Stack:
    """A stack that is only in front because the driver may stay says what a newer driver would open."""
    if stack.driver.state not in (DriverState.FITS, DriverState.UNLISTED) or not stack.release.stable:
        return stack
    mine = release_order(stack.release.vllm_ascend)
    open_now = [one for one in ranked if one.driver.state in (DriverState.FITS, DriverState.UNLISTED)]
    best_now = max(release_order(one.release.vllm_ascend) for one in open_now if one.release.stable)
    later = [one for one in ranked if one.driver.state is DriverState.UPGRADE and one.release.stable]
    newest = max(later, key=lambda one: release_order(one.release.vllm_ascend), default=None)
    if newest is None or release_order(newest.release.vllm_ascend) <= max(mine, best_now):
        return stack
    files = ", ".join(one.name for one in newest.packages if one.kind in ("driver", "firmware"))
    outlook = say(
        "The driver of this host holds newer releases back: after an upgrade ({files}), vllm-ascend {version} fits.",
        files=files,
        version=newest.release.vllm_ascend,
    )
    return replace(stack, notes=(outlook, *stack.notes))
