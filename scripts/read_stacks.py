"""Read what the console would install on each rehearsal host, so that it lies there from the first boot on.

    python scripts/read_stacks.py [--check]

Asks the resolver for every scenario of scripts/fake/scenarios and writes scripts/fake/stacks.json: by scenario, folders
of packages, best first. The first lies where plans look by themselves, the others beside it under the name of their
release. With --check nothing is written; the exit code tells whether the file is true.
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "fake")]

import furnish  # noqa: E402

from console.catalog.knowledge import known  # noqa: E402
from console.catalog.parsers import order  # noqa: E402
from console.facts.os_release import parse_os_release  # noqa: E402
from console.plans.ascend_pins import pins  # noqa: E402
from console.plans.needs import NOT_KNOWN, cann_files  # noqa: E402
from console.plans.refusals import Route  # noqa: E402
from console.plans.resolve import Stack, resolve  # noqa: E402
from console.plans.target import Target, system_name  # noqa: E402

FILE = ROOT / "scripts" / "fake" / "stacks.json"
ARCH = "aarch64"
OFFERED = 2
"""Releases for an environment that are carried over, and as many images."""
PYTHONS = ((3, 11), (3, 12))


def every() -> dict[str, list[dict[str, Any]]]:
    """Scenario -> folders of packages: release, files of the vendor, wheels by name, images."""
    return {file.stem: folders(file.stem) for file in sorted(furnish.SCENARIOS.glob("*.json"))}


def folders(scenario: str) -> list[dict[str, Any]]:
    stacks = resolve(target(furnish.load(scenario)), known()).stacks
    by_route = {route: _newest([one for one in stacks if one.route is route]) for route in Route}
    made = [
        {"release": one.release.vllm_ascend, "files": _files(scenario, one), "wheels": _wheels(one), "images": []}
        for one in by_route[Route.VENV]
    ]
    boxed = by_route[Route.DOCKER]
    if boxed and not made:
        made = [{"release": boxed[0].release.vllm_ascend, "files": [], "wheels": {}, "images": []}]
    for one in boxed:
        first = made[0]
        first["files"] = list(dict.fromkeys([*_files(scenario, one), *first["files"]]))
        first["images"].append(one.image)
    return made


def target(played: dict[str, Any]) -> Target:
    driver, cann = played["driver"] or {}, played["cann"] or {}
    return Target(
        chip=played["chip"]["name"],
        arch=ARCH,
        system=system_name(parse_os_release(played["system"]["os_release"])),
        driver=driver.get("version"),
        firmware=driver.get("firmware"),
        cann=cann.get("version"),
        pythons=PYTHONS,
    )


def _newest(stacks: list[Stack]) -> list[Stack]:
    """The best of each release: of the one that fits best, of the newest stable one, and so on as they fit."""
    found: dict[str, Stack] = {}
    stable = [one.release.vllm_ascend for one in stacks if "rc" not in one.release.vllm_ascend]
    newest = max(stable, key=order, default="")
    for one in stacks[:1] + sorted(stacks, key=lambda one: one.release.vllm_ascend != newest):
        found.setdefault(one.release.vllm_ascend, one)
    return list(found.values())[:OFFERED]


def _files(scenario: str, stack: Stack) -> list[str]:
    """Driver and firmware where they have to change, and CANN, also where it is there: removing it takes its file."""
    named = [one.name for one in stack.packages if one.kind in ("driver", "firmware") and NOT_KNOWN not in one.name]
    chip = known().called(furnish.load(scenario)["chip"]["name"])
    if stack.route is Route.VENV and chip is not None:
        named += [one.name for one in cann_files(known(), chip.family, ARCH, stack.variant.cann)]
    return named


def _wheels(stack: Stack) -> dict[str, str]:
    return dict(line.split("==", 1) for line in pins(stack, ARCH).splitlines())


def main() -> int:
    text = json.dumps(every(), indent=1) + "\n"
    if "--check" in sys.argv[1:]:
        return 0 if FILE.read_text("utf-8") == text else 1
    FILE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
