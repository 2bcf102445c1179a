"""Taking back from a host with NPUs what this console installed there, and nothing else."""

import json
from collections.abc import Iterator, Sequence

from console.catalog.knowledge import Knowledge
from console.plans.ascend import QUESTION, RESTART, Case, Options
from console.plans.needs import cann_files
from console.plans.resolve import Stack
from console.plans.step import Step
from console.plans.target import Target
from console.text import say


def plan(
    target: Target,
    stack: Stack,
    options: Options,
    known: Knowledge,
    *,
    with_driver: bool = False,
    earlier: Sequence[str] = (),
) -> list[Step]:
    """Everything of `stack` that was noted when it was installed, the last first; the driver only if that is wished.

    `earlier`: versions of CANN that the console installed before, and that an upgrade left where they were.
    """
    return list(_steps(Case(target, stack, options, known), with_driver=with_driver, earlier=earlier))


def _steps(case: Case, *, with_driver: bool, earlier: Sequence[str]) -> Iterator[Step]:
    if with_driver:  # else all that stands on the driver would be gone before the driver is kept
        yield case.step("cards-free", say("See that no card is in use"), 5, 300)
    yield case.step("remove-venv", say("Delete the Python environment"), 5, 600)
    title = say("Remove the image of the container")
    yield case.step("remove-image", title, 30, 600, what="image")
    yield from _cann(case, case.stack.variant.cann, "")
    for version in earlier:
        yield from _cann(case, version, f"-{version.lower()}")
    if with_driver:
        for what, title in (("firmware", say("Remove the firmware")), ("driver", say("Remove the driver"))):
            yield case.step(f"remove-{what}", title, 60, 1800, script="remove-hdk", what=what)
        question = json.dumps({"sentence": QUESTION.sentence, "values": {}})
        title = say("Restart the host, so that driver and firmware take effect")
        yield case.step(
            "restart-after", title, 240, 1800, script="restart", action=RESTART, wanted="", question=question
        )


def _cann(case: Case, version: str, mark: str) -> Iterator[Step]:
    files = cann_files(case.known, case.family, case.target.arch, version)
    for what, package in reversed(list(zip(("toolkit", "ops", "nnal"), files, strict=True))):
        title = say("Remove {file}", file=package.name)
        more = {"what": what, "file": package.name, "version": version}
        yield case.step(f"remove-{what}{mark}", title, 60, 1800, script="remove-cann", values=more)
