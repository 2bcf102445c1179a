"""Measurements of servers: what was asked, and the raw figures of every request."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import select

from console.bench.quick import Request, percentile
from console.records import reading, writing
from console.serving.instances import Instance
from db import models


@dataclass(frozen=True)
class Run:
    """One measurement. Every figure is derived from `requests`; `wall_s` is from the first sent to the last done."""

    id: int
    instance_id: int | None
    host_id: int
    model: str
    concurrency: int
    requests: Sequence[Request]
    wall_s: float
    started: float
    ended: float

    @property
    def ttft_p50_s(self) -> float:
        return percentile([one.ttft_s for one in self.requests], 50)

    @property
    def ttft_p95_s(self) -> float:
        return percentile([one.ttft_s for one in self.requests], 95)

    @property
    def tpot_mean_s(self) -> float | None:
        """Mean over the requests of (last token - first token) / (output tokens - 1)."""
        known = [one.tpot_s for one in self.requests if one.tpot_s is not None]
        return sum(known) / len(known) if known else None

    @property
    def tokens_per_s(self) -> float:
        """Output tokens of all requests per second of wall time."""
        return sum(one.output_tokens for one in self.requests) / self.wall_s


def keep(of: Instance, spec: Mapping[str, object], requests: Sequence[Request], wall_s: float, started: float) -> int:
    """Store a measurement that has ended now."""
    results = json.dumps({"requests": [asdict(one) for one in requests], "wall_s": wall_s})
    with writing() as session:
        row = models.Run(
            instance_id=of.id,
            host_id=of.host_id,
            kind="quick",
            model=of.spec.served_name,
            spec=json.dumps(spec),
            results=results,
            started=started,
            ended=time.time(),
        )
        session.add(row)
        session.flush()
        return row.id


def runs(host_id: int | None = None, limit: int = 100) -> list[Run]:
    """The latest first."""
    query = select(models.Run).order_by(models.Run.id.desc()).limit(limit)
    if host_id is not None:
        query = query.where(models.Run.host_id == host_id)
    with reading() as session:
        return [_run(row) for row in session.scalars(query)]


def latest(host_id: int) -> Run | None:
    """The last measurement made on this host."""
    found = runs(host_id, limit=1)
    return found[0] if found else None


def _run(row: models.Run) -> Run:
    results = json.loads(row.results)
    requests = [Request(**one) for one in results["requests"]]
    return Run(
        row.id,
        row.instance_id,
        row.host_id,
        row.model,
        int(json.loads(row.spec)["concurrency"]),
        requests,
        results["wall_s"],
        row.started,
        row.ended,
    )
