"""What one host offers for a start at one moment: models, cards, what is free, and the ways vLLM is installed there.

A form asks it once and keeps it for a while; the start itself looks again.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from console.catalog import parsers
from console.errors import ConsoleError, InvalidInput
from console.hosts import installed, observe
from console.hosts.cards import Card, cards_now
from console.hosts.inventory import Host
from console.jobs import stacks
from console.serving import ascend, claims, launch, npu_defaults, seats, traps
from console.serving.asked import Refusal, ServeSpec
from console.serving.backends import backend
from console.serving.seats import Seat
from console.serving.shape import Shape
from console.serving.shelf import shape_on
from console.serving.spec import Machine, refusals
from console.serving.weights import ModelFolder
from console.text import Text


@dataclass(frozen=True)
class Way:
    """One way to run vLLM on a host.

    release    of vllm-ascend whose options count; "" on a CPU, and where nothing is installed or chosen
    installed  whether it is known to be complete there; words: what was found, seen: when (Unix seconds)
    """

    backend: str
    release: str
    installed: bool
    words: Text | None = None
    seen: float | None = None

    @property
    def title(self) -> Text:
        return backend(self.backend).title

    @property
    def on_npus(self) -> bool:
        return self.backend in ascend.BACKENDS


@dataclass
class Offering:
    """Asked at `time` (Unix seconds); `shapes`: folders that were read since; no_cards: why none is known.

    free   what was free there then; `machine` is that with the claims of servers as they are now
    """

    host: Host
    time: float
    models: list[ModelFolder]
    free: Machine
    cards: list[Card]
    no_cards: Text | None = None
    shapes: dict[str, Shape] = field(default_factory=dict)

    @property
    def machine(self) -> Machine:
        return replace(self.free, ports_promised=claims.ports(self.host.id))

    def shape(self, folder: str) -> Shape:
        """The folder as the calculator sees it. InvalidInput, HostError as when reading it."""
        if folder not in self.shapes:
            self.shapes[folder] = shape_on(self.host, folder)
        return self.shapes[folder]

    def seats(self, backend_name: str) -> list[Seat]:
        """The cards as places for servers of this backend, by number; who has a claim is asked anew."""
        wanted = [one for one in claims.claims(self.host.id) if one.backend in ascend.BACKENDS]
        found = seats.seated(self.cards, wanted, backend_name)
        return sorted(found, key=lambda one: (one.number is None, one.number or 0))


def look(host: Host) -> Offering:
    """Ask the host. HostError when it cannot be asked; cards that cannot be read do not keep the rest away."""
    found, why = [], None
    if has_npus(host):
        try:
            found = cards_now(host)
        except ConsoleError as error:
            why = error.text
    return Offering(host, time.time(), launch.models_on(host), launch.machine(host), found, why)


def has_npus(host: Host) -> bool:
    """Whether NPUs were seen on its bus when it was last asked, or vLLM for them is installed."""
    seen = observe.latest(host)
    if seen is not None and seen.facts.values.get("npu_pci"):
        return True
    return any(installed.release(host, name) for name in ascend.BACKENDS)


def ways(host: Host) -> list[Way]:
    """The ways that are installed, the chosen one first, then what is chosen to be; without NPUs the CPU alone."""
    if not has_npus(host):
        return [_cpu(host)]
    wanted = stacks.backend(host)
    found = [_way(host, name) for name in sorted(ascend.BACKENDS, key=lambda one: one != wanted)]
    there = [one for one in found if one.installed]
    others = [one for one in found if not one.installed and one.release and (one.backend == wanted or not there)]
    cpu = _cpu(host)
    return [*there, *others, *([cpu] if cpu.installed else [])]


def reasons(offering: Offering, spec: ServeSpec, model: ModelFolder) -> list[Refusal]:
    """Every reason why this spec cannot work, over what was asked; that it does not fit, where no rule is broken."""
    found = [*traps.refusals(spec, model), *refusals(spec, model, offering.machine, backend(spec.backend))]
    if spec.backend not in ascend.BACKENDS:
        return found
    taken = offering.seats(spec.backend)
    if found:
        return [
            *found,
            *(one for one in seats.refusals(taken, spec) if one.field not in {each.field for each in found}),
        ]
    try:
        return npu_defaults.against(spec, taken, offering.shape(spec.model_folder))
    except InvalidInput as error:
        return [Refusal("model_folder", error.text)]


def asked_model(models: Sequence[ModelFolder], asked: str) -> ModelFolder | None:
    """The folder that an address means: by its whole path, else by its last name, as the catalog has it."""
    last = asked.rstrip("/").rsplit("/", 1)[-1].lower()
    exact = [one for one in models if one.folder == asked]
    return next(iter([*exact, *(one for one in models if asked and one.name.lower() == last)]), None)


def _cpu(host: Host) -> Way:
    found = installed.runtime(host, "local_cpu")
    if found is None:
        return Way("local_cpu", "", installed=False)
    return Way("local_cpu", "", found.complete, found.words, found.time)


def _way(host: Host, name: str) -> Way:
    found = installed.runtime(host, name)
    release = installed.release(host, name)
    words, seen = (None, None) if found is None else (found.words, found.time)
    if release is not None:
        return Way(name, parsers.nearest(release), True, words, seen)
    try:
        wish = stacks.last_wish(host)
        wanted = wish.release if wish is not None and wish.route == stacks.ROUTES[name] else ""
        stack = stacks.chosen(host, stacks.Wish(stacks.ROUTES[name], wanted))
    except InvalidInput:
        return Way(name, "", False, words, seen)
    return Way(name, parsers.nearest(stack.release.vllm_ascend), False, words, seen)
