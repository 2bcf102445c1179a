"""The whole catalog in force as values: what came with the console, and what the user changed in the data folder."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from console.catalog.ascend import Chip, DriverRule, chips_of, find_chip, find_rule, rules_of
from console.catalog.claims import Claim, Trap, claims_of, traps_of
from console.catalog.entries import FOLDER, Fault, Tree, own_files, read, shape_faults
from console.catalog.packages import (
    Bundle,
    CannNames,
    Family,
    Place,
    System,
    bundles_of,
    cann_names_of,
    families_of,
    names_for,
    places_of,
    systems_of,
)
from console.catalog.references import reference_faults
from console.catalog.releases import Release, Row, Wheel, releases_of, rows_of, wheels_of
from console.errors import InvalidInput
from console.settings import settings
from console.text import say, verbatim

OWN_FOLDER = "catalog"
"""Below the data folder: the user's own files."""


@dataclass(frozen=True)
class Knowledge:
    """Everything the catalog says. `folders`: where a CANN release lies at the public address, None if not known."""

    chips: tuple[Chip, ...]
    rules: tuple[DriverRule, ...]
    releases: tuple[Release, ...]
    rows: tuple[Row, ...]
    wheels: Mapping[tuple[str, str], Wheel]
    families: Mapping[str, Family]
    bundles: Mapping[str, Bundle]
    cann_names: tuple[CannNames, ...]
    folders: Mapping[str, str | None]
    places: Mapping[str, Place]
    systems: Mapping[str, System]
    traps: tuple[Trap, ...]
    claims: tuple[Claim, ...]

    def chip(self, name: str) -> Chip | None:
        return find_chip(self.chips, name)

    def called(self, words: str) -> Chip | None:
        """The chip a person means: a name of npu-smi whatever its case, the SoC name, a family, or how it is sold."""
        wanted = words.strip().lower().removeprefix("ascend ")
        forms = [wanted, wanted.removeprefix("ascend")] if wanted != "ascend910" else [wanted]
        for form in forms:
            for one in self.chips:
                if form in [name.lower() for name in (*one.names, *one.also)]:
                    return one
        return self.chip(words)

    def rule(self, cann: str) -> DriverRule | None:
        return find_rule(self.rules, cann)

    def names(self, cann: str) -> CannNames | None:
        return names_for(self.cann_names, cann)

    def row(self, vllm_ascend: str) -> Row | None:
        return next((row for row in self.rows if row.vllm_ascend == vllm_ascend), None)


def faults(tree: Tree) -> list[Fault]:
    """Everything wrong with a catalog: what cannot be read, then fields, then references if the fields are right."""
    found = [*tree.faults, *shape_faults(tree)]
    return found or list(reference_faults(tree))


def know(tree: Tree) -> Knowledge:
    """The values of a catalog. InvalidInput names the first fault and how many there are."""
    if wrong := faults(tree):
        raise InvalidInput(
            say(
                "The catalog has faults ({count}), the first in {place}: {problem} "
                "`pilot catalog check` lists them all.",
                count=len(wrong),
                place=verbatim(wrong[0].place),
                problem=wrong[0].problem,
            )
        )
    return Knowledge(
        chips_of(tree), rules_of(tree), releases_of(tree), rows_of(tree), wheels_of(tree), families_of(tree),
        bundles_of(tree), cann_names_of(tree), {entry["cann"]: entry["folder"] for entry in tree.of("cann")},
        places_of(tree), systems_of(tree), traps_of(tree), claims_of(tree),
    )  # fmt: skip


def known() -> Knowledge:
    """The catalog in force, read again when a file of the user's changes. Raises InvalidInput if it has faults."""
    own = settings().data / OWN_FOLDER
    return _known(own, tuple((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in own_files(own)))


@functools.lru_cache(maxsize=2)
def _known(own: Path, stamp: tuple[tuple[str, int, int], ...]) -> Knowledge:
    return know(read(own, FOLDER))
