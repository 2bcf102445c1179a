"""Where the pilot of every host stands, cheap enough to look at many hosts every few seconds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from console.hosts.inventory import Host
from console.jobs.path import PILOT
from console.records import reading
from console.serving import instances
from console.serving.state import State
from console.text import Text, from_json
from db import models


@dataclass(frozen=True)
class Standing:
    """The latest job of the path on one host, as kind, state and times; `ready` counts servers that are ready now."""

    host: Host
    kind: str | None
    state: str | None
    moved: float | None
    reason: Text | None
    job_id: int | None
    ready: int


def overview(hosts: Sequence[Host]) -> list[Standing]:
    """In the order of `hosts`."""
    last = select(func.max(models.Job.id)).where(models.Job.kind.in_(PILOT)).group_by(models.Job.host_id)
    with reading() as session:
        jobs = {row.host_id: row for row in session.scalars(select(models.Job).where(models.Job.id.in_(last)))}
    ready = Counter(one.host_id for one in instances.instances() if one.state == State.ready)
    return [_standing(host, jobs.get(host.id), ready[host.id]) for host in hosts]


def _standing(host: Host, job: models.Job | None, ready: int) -> Standing:
    if job is None:
        return Standing(host, None, None, None, None, None, ready)
    moved = job.ended or job.started or job.created
    reason = None if job.reason is None else from_json(job.reason)
    return Standing(host, job.kind, job.state, moved, reason, job.id, ready)
