"""The cards of a host as places for servers: which number each has, and who sits there already."""

from collections.abc import Sequence
from dataclasses import dataclass

from console.hosts.cards import Card, cards_now
from console.hosts.inventory import Host
from console.serving import ascend, instances, numbering
from console.serving.asked import Refusal, ServeSpec
from console.serving.backends.ascend_docker import container_name
from console.serving.instances import Instance
from console.text import Text, say


@dataclass(frozen=True)
class Seat:
    """One chip. `number` is what a server names it by: its device file for a container, else its logical id.

    taken   why no server may have it; None = it is free
    """

    card: Card
    number: int | None
    taken: Text | None


def seats(host: Host, backend: str, own: Instance | None = None) -> list[Seat]:
    """Every chip of the host as it is at this moment; what `own` holds counts as free. HostError as when asking."""
    return seated(cards_now(host), claimed(host.id, own), backend, own)


def seated(cards: Sequence[Card], claims: Sequence[Instance], backend: str, own: Instance | None = None) -> list[Seat]:
    """The same over cards that were read, and the servers that have a claim to some of them."""
    return [Seat(one, number(one, backend), _taken(one, claims, backend, own)) for one in cards]


def number(card: Card, backend: str) -> int | None:
    """By which number a server of this backend names it."""
    return numbering.number(card.chip, backend, several=card.several)


def claimed(host_id: int, own: Instance | None = None) -> list[Instance]:
    """Servers of this host that hold cards, or will in a moment: wished up, and not known to have ended."""
    mine = None if own is None else own.id
    return [
        one
        for one in instances.instances()
        if one.host_id == host_id and one.backend in ascend.BACKENDS and one.id != mine and instances.holds(one)
    ]


def refusals(found: Sequence[Seat], spec: ServeSpec) -> list[Refusal]:
    """Why the cards of `spec` are not to be had."""
    by_number = {one.number: one for one in found if one.number is not None}
    free = ", ".join(str(one.number) for one in found if one.taken is None)
    instead = say("Cards that are free: {numbers}.", numbers=free) if free else None
    wrong = []
    for each in spec.device_ids:
        seat = by_number.get(each)
        if seat is None:
            wrong.append(Refusal("device_ids", say("The host has no NPU with the number {id}.", id=each), instead))
        elif seat.taken is not None:
            wrong.append(Refusal("device_ids", seat.taken, instead))
    if len(spec.device_ids) < spec.ranks:
        why = say("{ranks} processes need as many cards; {cards} are named.", ranks=spec.ranks,
                  cards=len(spec.device_ids))  # fmt: skip
        wrong.append(Refusal("device_ids", why, instead))
    return wrong


def _taken(card: Card, claims: Sequence[Instance], backend: str, own: Instance | None) -> Text | None:
    chip = card.chip
    if chip.npu is None or number(card, backend) is None:
        return say("A card is on the PCI bus, but npu-smi gives no number for it, so no server can be told to use it.")
    for one in claims:
        if number(card, one.backend) in one.spec.device_ids:
            return say("{card} belongs to the instance {name}.", card=card.title, name=one.name)
    if chip.health not in (None, "OK"):
        return say("{card} is not healthy: {health}.", card=card.title, health=card.health or "?")
    others = [one for one in chip.held if own is None or not _is_of(card, one.pid, one.container, own)]
    if others:
        return say("{card} is held by {who}.", card=card.title, who=card.holder(others[0]))
    if chip.use == "held" and not chip.held:
        return say("{card} has memory in use, and whose it is cannot be seen.", card=card.title)
    return None


def _is_of(card: Card, pid: int, container: str | None, own: Instance) -> bool:
    if own.backend == ascend.DOCKER:
        return container == container_name(own.spec)
    return card.instances.get(pid) == own.name
