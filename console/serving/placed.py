"""The place a host offers for models, by what it showed last: its chips, the release, whether containers are made."""

from console.catalog.quantizations import NEWEST
from console.hosts import installed
from console.hosts.cards import cards
from console.hosts.inventory import Host
from console.jobs import stacks
from console.serving import ascend
from console.serving.traps import Place


def place_on(host: Host) -> Place:
    """A host whose cards are not known is judged as a CPU: nothing is said of chips that nobody saw."""
    names = (card.chip.name for card in cards([host])[0])
    family = next((found for name in names if name and (found := ascend.family_of(name))), "")
    if not family:
        return Place()
    backend = stacks.backend(host)
    return Place(family, installed.release(host, backend) or NEWEST, container=backend == ascend.DOCKER)
