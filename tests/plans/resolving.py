"""The catalog and hosts that the tests of resolving share."""

from dataclasses import replace
from typing import Any

from console.catalog.entries import read
from console.catalog.knowledge import Knowledge, know
from console.plans.refusals import Route
from console.plans.resolve import Resolution, Stack, resolve
from console.plans.target import Target

KNOWN: Knowledge = know(read())
REFERENCE = Target("910B4", "aarch64", "ubuntu-22.04", "25.5.1", pythons=((3, 11),))
"""A host on which the newest stable stack runs by either route."""


def target(**changes: Any) -> Target:
    return replace(REFERENCE, **changes)


def on(route: Route | None = None, **changes: Any) -> Resolution:
    return resolve(target(**changes), KNOWN, [route] if route else tuple(Route))


def stack(resolution: Resolution, release: str, route: Route, cann: str = "") -> Stack:
    found = [
        one
        for one in resolution.stacks
        if (one.release.vllm_ascend, one.route) == (release, route) and cann in ("", one.variant.cann)
    ]
    assert len(found) == 1, [(one.release.vllm_ascend, one.route) for one in resolution.stacks]
    return found[0]


def reasons(resolution: Resolution) -> dict[tuple[str, str], str]:
    """(release, route) -> code of the reason."""
    return {(one.release.vllm_ascend, str(one.route)): str(one.reason.code) for one in resolution.refused}


def names(one: Stack) -> list[str]:
    return [package.name for package in one.packages]
