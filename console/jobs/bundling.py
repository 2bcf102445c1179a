"""Bringing a bundle to hosts as jobs: each rides out lost connections, can be cancelled, and is continued."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from console.bundles import manifest
from console.bundles.delivery import Delivered, Progress, deliver
from console.bundles.manifest import Order
from console.bundles.suits import misfits
from console.catalog.knowledge import known
from console.errors import InvalidInput
from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.pace import Pace
from console.jobs import stacks
from console.jobs.jobs import enqueue
from console.jobs.logs import Log
from console.jobs.ride import ride
from console.plans.step import Step
from console.text import Text, say

if TYPE_CHECKING:
    from console.jobs.carry import Carry

KIND = "push"
MB = 1_000_000
USUAL = 100 * MB
"""Bytes per second that are expected where no limit is set."""
LONGEST_S = 48 * 3600
LOOK_S, TELL_S = 0.5, 5.0
"""Seconds between looks whether the job is still wanted, and between lines of its log."""


def start(folder: Path, hosts: Sequence[int], *, limit_mb: float | None = None, actor: str) -> list[int]:
    """Queue one job for each host that brings the bundle there; the jobs of hosts that have one already are those.

    `limit_mb`: megabytes per second, shared equally between the hosts. InvalidInput when the folder holds no bundle.
    """
    whole = manifest.required(folder)
    rate = share(hosts, limit_mb)
    found = []
    for host_id in hosts:
        host = inventory.host(host_id)
        step = Step(
            "push",
            say("Bring what is missing, and verify it there"),
            action="push_bundle",
            arguments={"folder": str(folder), "limit": rate},
            expected_s=10 + whole.size / (rate or USUAL),
            timeout_s=LONGEST_S,
        )
        title = say("Bring a bundle to {host}", host=host.title)
        found.append(enqueue(KIND, f"bundle:{host_id}", host_id, title, [step], actor=actor))
    return found


def share(hosts: Sequence[int], limit_mb: float | None) -> float | None:
    """Bytes per second for each of these hosts; None without a limit. InvalidInput for no host and for no speed."""
    if not hosts:
        raise InvalidInput(say("Choose at least one host."))
    if limit_mb is not None and limit_mb <= 0:
        raise InvalidInput(say("The limit must be more than 0 MB per second."))
    return None if limit_mb is None else limit_mb * MB / len(hosts)


def pace_of(step: Step) -> Pace:
    """As the limit among the step's arguments says."""
    limit = step.arguments.get("limit")
    return Pace(None if limit is None else float(str(limit)))


def misfits_on(host: Host, order: Order) -> tuple[Text, ...]:
    """Why a bundle is not for this host; nothing of one that was never asked about itself."""
    try:
        target = stacks.target(host)
    except InvalidInput:
        return ()
    return misfits(order, target, known())


def push_bundle(carry: "Carry", step: Step, log: Log) -> None:
    """The action of such a job."""
    folder, host = Path(str(step.arguments["folder"])), inventory.host(carry.host_id)
    pace = pace_of(step)
    heard = Heard(carry, log)

    def told(far: Progress) -> None:
        heard(far.file, far.done, far.size)

    def act() -> Delivered:
        return deliver(inventory.runner(host), host, folder, pace=pace, told=told, noted=heard.note)

    done = ride(carry, act, step.timeout_s)
    log.line(f"{done.files} files sent ({done.sent / MB:.0f} MB), {done.there} were there already")


class Heard:
    """Writes progress to the log now and then, and lets a cancelled job end in the middle of a file."""

    def __init__(self, carry: "Carry", log: Log) -> None:
        self.carry, self.log = carry, log
        self.looked, self.told, self.ended = 0.0, 0.0, False

    def __call__(self, name: str, done: int, size: int) -> None:
        """`done` bytes of `size` are there; the file on its way is `name`."""
        self.carry.reached = True  # it has answered: from now on a lost connection is ridden out
        now = time.monotonic()
        if now - self.looked > LOOK_S:
            self.looked = now
            self.carry.wanted()
        if now - self.told > TELL_S or (done == size and not self.ended):
            self.told, self.ended = now, done == size
            self.log.line(f"{100 * done // max(1, size)} %  {done / 1e9:.2f} of {size / 1e9:.2f} GB  {name}")

    def note(self, text: Text) -> None:
        """What else is worth knowing of how the files go."""
        self.log.line(str(text))
