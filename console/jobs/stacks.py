"""Which stacks fit a host of the inventory, by its last answers, and which of them a person has chosen."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select

from console.catalog.knowledge import Knowledge, known
from console.errors import InvalidInput
from console.hosts import observe
from console.hosts.inventory import Host
from console.plans.ascend import Source
from console.plans.refusals import Route
from console.plans.resolve import Resolution, Stack, resolve
from console.plans.target import Target, of_facts
from console.records import note, reading, writing
from console.serving import ascend
from console.text import from_json, say, verbatim
from db import models

ON_NPUS = "on its NPUs"
"""The event of a host for whose NPUs a person has chosen what to install."""
BACKENDS = {Route.VENV: ascend.VENV, Route.DOCKER: ascend.DOCKER}
ROUTES = {backend: route for route, backend in BACKENDS.items()}


@dataclass(frozen=True)
class Wish:
    """What to install; `route` None and `release` "": the best. `packages`: folder of the host, "" the usual."""

    route: Route | None = None
    release: str = ""
    source: Source = Source.FOLDER
    packages: str = ""


def target(host: Host) -> Target:
    """The host as far as it matters here. InvalidInput when it was never asked about itself."""
    seen = observe.latest(host)
    if seen is None:
        raise InvalidInput(
            say("{host} was never asked about itself. Run `pilot check {host}` first.", host=verbatim(host.name))
        )
    return of_facts(seen.facts)


def resolution(host: Host) -> Resolution:
    """Every stack for this host, best first, and why not others."""
    return _resolved(_Asked(target(host)), known())


def chosen(host: Host, wish: Wish) -> Stack:
    """The best stack that is as wished. InvalidInput with the reason when there is none, or no such release."""
    offered = [one.vllm_ascend for one in known().releases]
    if wish.release not in ("", *offered):
        why = say("The console installs no release '{release}' of vllm-ascend. It installs: {names}.",
                  release=wish.release, names=", ".join(offered))  # fmt: skip
        raise InvalidInput(why)
    found = resolution(host)
    fitting = [
        one for one in found.stacks if wish.route in (None, one.route) and wish.release in ("", one.release.vllm_ascend)
    ]
    if fitting:
        return fitting[0]
    reasons = [
        one.words("en")
        for one in found.refused
        if wish.route in (None, one.route) and wish.release in ("", one.release.vllm_ascend)
    ]
    raise InvalidInput(
        say("Nothing of that kind fits {host}: {why}", host=host.title, why=verbatim((reasons or ["?"])[0]))
    )


def choose(host: Host, wish: Wish, *, actor: str) -> None:
    """From now on the pilot of this host computes on its NPUs in this way; no effect if that was so."""
    if last_wish(host) == wish:
        return
    with writing() as session:
        words = say(
            "{release} by {route}, packages from {source} {packages}",
            release=wish.release,
            route=str(wish.route),
            source=str(wish.source),
            packages=wish.packages,
        )
        note(session, f"host:{host.id}", ON_NPUS, actor=actor, reason=words)


def wish_of(told: Mapping[str, object]) -> Wish:
    """From the values of an event, or the arguments of a step."""
    return Wish(Route(str(told["route"])), str(told["release"]), Source(str(told["source"])), str(told["packages"]))


def last_wish(host: Host) -> Wish | None:
    """What was chosen last; None when nobody has chosen yet."""
    query = select(models.Event.reason).where(models.Event.subject == f"host:{host.id}", models.Event.became == ON_NPUS)
    with reading() as session:
        stored = session.scalar(query.order_by(models.Event.id.desc()).limit(1))
    if stored is None:
        return None
    return wish_of(from_json(stored).values)


def backend(host: Host) -> str:
    """The backend of what was chosen, else of the best stack."""
    wish = last_wish(host)
    if wish is not None and wish.route is not None:
        return BACKENDS[wish.route]
    try:
        best = next(iter(resolution(host).stacks), None)
    except InvalidInput:  # a fault in the catalog: whoever installs is told; looking at hosts goes on
        best = None
    return BACKENDS[Route.DOCKER if best is None else best.route]


class _Asked:
    """A target by which an answer can be kept: it holds a dictionary, so it has no hash of its own."""

    def __init__(self, of: Target) -> None:
        self.of, self.key = of, json.dumps(of.plain(), sort_keys=True)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self.key == other.key


@functools.lru_cache(maxsize=64)
def _resolved_by(asked: _Asked, catalog: int) -> Resolution:
    return resolve(asked.of, known())


def _resolved(asked: _Asked, catalog: Knowledge) -> Resolution:
    return _resolved_by(asked, id(catalog))
