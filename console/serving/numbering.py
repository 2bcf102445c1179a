"""By which number a server names a chip, and which chips of a host a server therefore means."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from console.facts import ascend as asked
from console.facts.chips import NEEDED, Chip, chips_of
from console.facts.probe import read
from console.hosts import kept
from console.serving import ascend
from console.serving.asked import ServeSpec

FACTS = [fact for fact in asked.FACTS if fact.name in NEEDED]
Place = tuple[int | None, int | None]
"""A chip as npu-smi counts it: NPU and chip of it."""


def number(chip: Chip, backend: str, *, several: bool) -> int | None:
    """Containers get device files, which count physically; programs on the host count logically.

    Where an NPU is one chip (not `several`), npu-smi gives no physical number of its own: it is that of the NPU.
    """
    if backend != ascend.DOCKER:
        return chip.logic_id
    return chip.npu if chip.phy_id is None and not several else chip.phy_id


@dataclass(frozen=True)
class Numbers:
    """Backend -> number -> chip, as the host said last; empty where it was not asked."""

    places: Mapping[str, Mapping[int, Place]] = field(default_factory=dict)

    def chips(self, spec: ServeSpec) -> frozenset[Place | int]:
        """What the server takes; a chip that is not known stands as its number, which then counts for every backend."""
        if spec.backend not in ascend.BACKENDS:
            return frozenset()
        known = self.places.get(spec.backend, {})
        return frozenset(known.get(one, one) for one in spec.device_ids or known)


def numbers(host_id: int) -> Numbers:
    """From what the host said last."""
    said = kept.last(host_id)
    chips = () if said is None else chips_of(read(said.raws, FACTS), 0)
    listed = [one.npu for one in chips]
    made: dict[str, dict[int, Place]] = {backend: {} for backend in ascend.BACKENDS}
    for backend, known in made.items():
        for chip in chips:
            found = number(chip, backend, several=listed.count(chip.npu) > 1)
            if found is not None and chip.npu is not None:
                known[found] = (chip.npu, chip.chip)
    return Numbers(made)
