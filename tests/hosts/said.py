"""Hosts in the inventory that said what a real one would, without a server to ask."""

import time

from console.facts.probe import Raw
from console.hosts import inventory, kept
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from tests.checks.composed import HOST


def remote(name: str, *tags: str, **changes: str) -> Host:
    """A host over SSH that was asked just now; `changes` are answers other than those of a good host."""
    host = inventory.add_host(name, Reach("192.0.2.7", 22, "ops"), tags=tags, actor="ann")
    say_again(host, **changes)
    return host


def say_again(host: Host, **changes: str) -> None:
    """One more whole probe."""
    raws = [Raw(one, text, 0, 0.1) for one, text in {**HOST, **changes}.items()]
    kept.keep(host.id, raws, time.time(), actor="ann")


def say_only(host: Host, check: str, **answers: str) -> None:
    """What a probe for a single check brings."""
    raws = [Raw(one, text, 0, 0.1) for one, text in answers.items()]
    kept.keep(host.id, [*raws, Raw(kept.ONLY_FOR, check, 0, 0.0)], time.time(), actor="ann")
