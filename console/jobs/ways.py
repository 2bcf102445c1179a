"""How the pilot of a host computes: by which backend, and by which profile the host is judged for it."""

from dataclasses import dataclass

from sqlalchemy import select

from console.hosts import observe
from console.hosts.inventory import Host
from console.hosts.observe import LOCAL_PROFILE, REMOTE_PROFILE, Seen
from console.jobs import stacks
from console.records import note, reading, writing
from console.text import Text, say
from db import models

ON_CPU = "on its CPU"
"""The event of a host whose pilot a person lets compute on the CPU."""


@dataclass(frozen=True)
class Way:
    """backend    a name of console/serving/backends
    profile    what the host is compared with
    question   what a person must decide before the pilot goes on; None = nothing
    """

    backend: str
    profile: str
    question: Text | None = None


def way_of(host: Host, asked: Seen | None = None) -> Way:
    """The one place that decides how the pilot of a host computes.

    A host with NPUs on its bus computes on them, in the way a person has chosen or that fits best. Every other computes
    on its CPU. A host over SSH is judged by the profile for NPUs, unless none was seen on its bus and a person has
    chosen its CPU. `asked` is what the host said last, where that was read just now.
    """
    cards = _has_cards(asked or observe.latest(host))
    if cards:
        return Way(stacks.backend(host), REMOTE_PROFILE)
    if host.reach is None:
        return Way("local_cpu", LOCAL_PROFILE)
    if cards is None:
        return Way("local_cpu", REMOTE_PROFILE)
    if _chosen(host):
        return Way("local_cpu", LOCAL_PROFILE)
    question = say(
        "No NPU was seen on the PCI bus of {host}. Shall its pilot compute on the CPU, with a small model? If it "
        "should have NPUs, say no: the Checklist then says what is missing.",
        host=host.title,
    )
    return Way("local_cpu", REMOTE_PROFILE, question)


def choose_cpu(host_id: int, *, actor: str) -> None:
    """From now on the pilot of this host computes on its CPU, as long as no NPU is seen on its bus."""
    with writing() as session:
        note(session, f"host:{host_id}", ON_CPU, actor=actor)


def _has_cards(seen: Seen | None) -> bool | None:
    """Whether cards were seen on the bus when the host was last asked; None = not known."""
    cards = None if seen is None else seen.facts.values.get("npu_pci")
    return None if cards is None else bool(cards)


def _chosen(host: Host) -> bool:
    query = select(models.Event.id).where(models.Event.subject == f"host:{host.id}", models.Event.became == ON_CPU)
    with reading() as session:
        return session.scalar(query.limit(1)) is not None
