"""Every release against hosts of every kind: the best that fits, and the first reason against each that does not."""

from typing import Any

import pytest

from console.plans.refusals import Code, Route
from tests.plans.resolving import KNOWN, on, reasons

DOCKER, VENV = Route.DOCKER, Route.VENV
SOURCE = {
    "0.30.0rc2": "source_only",
    "0.23.0.post1": "source_only",
    "0.7.3.post1": "source_only",
    "0.7.3": "source_only",
}
NOT_A2 = ["0.9.1", "0.7.3.post1", "0.7.3"]
ALL = [one.vllm_ascend for one in KNOWN.releases]

TABLE: dict[str, tuple[dict[str, Any], str, dict[str, str]]] = {
    "first generation": ({"chip": "910B"}, "", dict.fromkeys(ALL, "chip_unsupported")),
    "edge": ({"chip": "310B4"}, "", dict.fromkeys(ALL, "chip_unsupported")),
    "a chip nobody knows": ({"chip": "910X"}, "", dict.fromkeys(ALL, "chip_unknown")),
    "no chip at all": ({"chip": ""}, "", dict.fromkeys(ALL, "chip_unknown")),
    "riscv64": ({"arch": "riscv64"}, "", dict.fromkeys(ALL, "arch_unsupported")),
    "a system on no list": ({"system": "plan9-4"}, "", dict.fromkeys(ALL, "os_unknown")),
    "Kylin on x86_64": ({"system": "kylin-v10", "arch": "x86_64"}, "", dict.fromkeys(ALL, "os_other_arch")),
    "the chip comes first": ({"chip": "910B", "system": "plan9-4"}, "", dict.fromkeys(ALL, "chip_unsupported")),
    "Kylin by wheels": ({"system": "kylin-v10", "route": VENV}, "", dict.fromkeys(ALL, "containers_only")),
    "Kylin by containers": ({"system": "kylin-v10", "route": DOCKER}, "0.23.0.post1", {}),
    "openEuler 20.03": ({"system": "openeuler-20.03", "route": VENV}, "", dict.fromkeys(ALL, "containers_only")),
    "A3 by wheels": (
        {"chip": "Ascend910", "route": VENV},
        "",
        {**dict.fromkeys(ALL, "wheel_other_chip"), **SOURCE, **dict.fromkeys(NOT_A2, "chip_not_in_release")},
    ),
    "A3 by containers": (
        {"chip": "Ascend910", "route": DOCKER}, "0.23.0.post1", dict.fromkeys(NOT_A2, "chip_not_in_release"),
    ),
    "310P by containers": (
        {"chip": "310P3", "route": DOCKER},
        "0.23.0.post1",
        {**dict.fromkeys(["0.13.0", "0.11.0", *NOT_A2], "chip_not_in_release"), "0.18.0": "variant_excludes"},
    ),
    "950 by containers": (
        {"chip": "Ascend950", "route": DOCKER},
        "0.23.0.post1",
        dict.fromkeys(["0.18.0", "0.13.0", "0.11.0", *NOT_A2], "chip_not_in_release"),
    ),
    "x86_64 by containers": ({"arch": "x86_64", "route": DOCKER}, "0.23.0.post1", {"0.18.0": "variant_excludes"}),
    "Python 3.13": (
        {"pythons": ((3, 13),), "route": VENV}, "", {**dict.fromkeys(ALL, "python"), **SOURCE},
    ),
    "Python 3.12": (
        {"pythons": ((3, 12),), "route": VENV},
        "0.23.0",
        {**dict.fromkeys(["0.18.0", "0.13.0", "0.11.0", "0.9.1"], "python"), **SOURCE},
    ),
    "Python 3.9": (
        {"pythons": ((3, 9),), "route": VENV},
        "0.11.0",
        {**dict.fromkeys(["0.23.0", "0.18.0", "0.13.0"], "python"), **SOURCE},
    ),
    "Python does not matter to an image": ({"pythons": ((3, 13),), "route": DOCKER}, "0.23.0.post1", {}),
    "old glibc": ({"glibc": (2, 31), "route": VENV}, "0.18.0", {"0.23.0": "glibc", **SOURCE}),
    "very old glibc": (
        {"glibc": (2, 17), "route": VENV},
        "0.9.1",
        {**dict.fromkeys(["0.23.0", "0.18.0", "0.13.0", "0.11.0"], "glibc"), **SOURCE},
    ),
    "glibc does not matter to an image": ({"glibc": (2, 17), "route": DOCKER}, "0.23.0.post1", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_the_best_stack_and_the_reasons(name: str) -> None:
    changes, best, refused = TABLE[name]
    found = on(changes.get("route"), **{key: value for key, value in changes.items() if key != "route"})
    assert (found.stacks[0].release.vllm_ascend if found.stacks else "") == best
    wanted = {(release, str(route)): code for release, code in refused.items() for route in _routes(changes)}
    assert reasons(found) == wanted


def _routes(changes: dict[str, Any]) -> list[Route]:
    return [changes["route"]] if "route" in changes else list(Route)


def test_reasons_speak_both_languages_and_say_more_than_their_code() -> None:
    seen = set()
    for changes, _, _ in TABLE.values():
        found = on(changes.get("route"), **{key: value for key, value in changes.items() if key != "route"})
        for one in found.refused:
            seen.add(one.reason.code)
            for language in ("en", "zh"):
                assert "{" not in one.words(language)
                assert len(one.words(language)) > 15
    assert set(Code) - seen == {Code.IMAGE_MISSING, Code.WHEEL_ARCH}
