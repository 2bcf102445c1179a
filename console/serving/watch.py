"""Watches one instance: its process, its health, its metrics; ends it when it is wished down. Runs in the worker."""

import json
import threading
import time
import traceback
from dataclasses import dataclass, field

from sqlalchemy import or_, select

from console.errors import CommandTimeout, ConsoleError, EngineError, Unreachable
from console.hosts import inventory
from console.hosts.listening import listening
from console.hosts.process import Detached, Life, Look
from console.jobs.logs import Log, attempt_log
from console.metrics.scrape import Scrape
from console.metrics.scraper import scrape
from console.metrics.store import Samples
from console.metrics.windows import INTERVAL_S
from console.records import CONSOLE, move, reading, writing
from console.serving import ascend, container, instances, lessons
from console.serving.client import EngineClient
from console.serving.foreign import foreign
from console.serving.launch import api_key
from console.serving.progress import Progress
from console.serving.readiness import prove, warm_up
from console.serving.shelf import shape_on
from console.serving.state import Health, HealthPhase, Judgement, Process, ProcessPhase, State, Wish, decide
from console.settings import settings
from console.text import from_json, to_json
from db import models

TICK_S = 1.0
SCRAPE_S = INTERVAL_S
KEPT_S = 2 * 86_400.0
"""Raw samples older than this are pruned."""
LOOK_S = 10.0
"""Longest a look at the process may take."""
AWAY_S = 10.0
"""Seconds without the host after which an instance on it counts as lost; a shorter gap is ridden out."""
RETRY_S = 10.0
"""Pause before a warm-up or a sanity question that got no answer is tried again."""

PROCESS_OF = {
    Life.ABSENT: ProcessPhase.never,
    Life.RUNNING: ProcessPhase.running,
    Life.EXITED: ProcessPhase.exited,
    Life.GONE: ProcessPhase.gone,
}


def watched() -> list[int]:
    """Instances that need a watcher: wished up, stopping or lost with their host, and without a written end."""
    needs = or_(models.Instance.wish == Wish.up, models.Instance.state.in_((State.stopping, State.lost)))
    with reading() as session:
        rows = session.scalars(select(models.Instance).where(needs))
        return [row.id for row in rows if row.state == State.stopping or not json.loads(row.health).get("ended")]


@dataclass
class Watch:
    """The watcher of one instance, from its start until it is at rest."""

    instance_id: int
    going_down: threading.Event
    seen: dict[str, object] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    asking: threading.Thread | None = None
    asked_at: float = 0.0
    scraped_at: float = 0.0
    away_since: float = 0.0

    def run(self) -> None:
        """Look once a second until there is nothing to watch. Never raises."""
        samples = Samples(settings().samples)
        try:
            while not self.going_down.is_set():
                try:
                    if self._round(samples):
                        return
                except ConsoleError as error:
                    print(f"instance {self.instance_id}: {error}")
                except Exception:
                    traceback.print_exc()
                self.going_down.wait(TICK_S)
        finally:
            samples.close()

    def _round(self, samples: Samples) -> bool:
        """One look; true when the instance is at rest."""
        one = instances.stored(self.instance_id)
        if one is None:
            return True
        if not self.seen or self.seen.get("attempt") != one.attempt:
            self.seen = dict(one.health) if one.health.get("attempt") == one.attempt else {"attempt": one.attempt}
            self.progress = Progress()
        detached = self._detached(one)
        try:
            look = self._look(detached, attempt_log(one.id, one.attempt))
        except (Unreachable, CommandTimeout) as error:
            self._away(one, error)
            return False
        self.away_since = 0.0
        process = Process(PROCESS_OF[look.life], one.attempt, look.code)
        if one.wish == Wish.down and look.life == Life.RUNNING:
            container.end(one.spec, detached)
            process = Process(ProcessPhase.exited, one.attempt, detached.look().code)
        elif look.life == Life.RUNNING:
            self._ask_health(one, samples)
        judged = decide(one.wish, process, self._health(one.attempt))
        ended = process.phase in (ProcessPhase.exited, ProcessPhase.gone)
        if ended and (one.wish == Wish.up or one.backend == ascend.DOCKER):
            container.end(one.spec, detached)  # what the server started may have outlived it
        if ended:
            self._look(detached, attempt_log(one.id, one.attempt))
        self._write(one, judged, process, ended=ended)
        return ended or (one.wish == Wish.down and judged.state == State.stopped)

    def _away(self, one: instances.Instance, error: ConsoleError) -> None:
        """The host does not answer; after a while nobody knows how the instance is, and that is written down."""
        self.away_since = self.away_since or time.time()
        self.scraped_at = 0.0  # when it is back, its health is asked at once
        if time.time() - self.away_since >= AWAY_S:
            self.seen["trouble"] = to_json(error.text)
            process = Process(ProcessPhase.unreachable, one.attempt)
            self._write(one, decide(one.wish, process, self._health(one.attempt)), process, ended=False)

    def _detached(self, one: instances.Instance) -> Detached:
        host = inventory.host(one.host_id)
        return Detached(inventory.runner(host), instances.folder(host, one.id, one.attempt))

    def _look(self, detached: Detached, log: Log) -> Look:
        """A look that copies the whole rest of the log."""
        while True:
            look = detached.look(log.size, timeout_s=LOOK_S)
            log.take(look.log, ended=look.life != Life.RUNNING)
            if not look.log or look.life == Life.RUNNING:
                return look

    # -- health ----------------------------------------------------------------------------------------------

    def _health(self, attempt: int) -> Health:
        phase = HealthPhase(str(self.seen.get("phase", HealthPhase.none)))
        answered = float(str(self.seen.get("answered", 0.0)))
        evidence = self.seen.get("evidence")
        answer = str(evidence.get("answer", "")) if isinstance(evidence, dict) else ""
        told = self.seen.get("foreign")
        other = None if told is None else from_json(str(told))
        return Health(phase, attempt, max(0.0, time.time() - answered), answer, self.progress.stuck_s(), other)

    def _ask_health(self, one: instances.Instance, samples: Samples) -> None:
        """Health and metrics every two seconds; both must answer for the instance to count as alive."""
        now = time.time()
        if now - self.scraped_at < SCRAPE_S:
            return
        self.scraped_at = now
        try:
            with EngineClient(f"http://{one.address}", api_key(one), answer_s=2.0) as client:
                client.health()
            read = scrape(f"http://{one.address}")
        except EngineError:
            self.seen.pop("foreign", None)
            return
        if not self._is_ours(one, read):
            return
        samples.append(one.id, now, one.attempt, read)
        if now % 600 < SCRAPE_S:
            samples.prune(now - KEPT_S)
        self._alive(one, now, read)

    def _is_ours(self, one: instances.Instance, read: Scrape) -> bool:
        """Whether what answers is a process of this attempt: asked once, and again when it says it began anew."""
        if self.seen.get("listener", "never") == read.process_start_time:
            return True
        inside = one.backend == ascend.DOCKER
        there = self._detached(one)
        found = container.listening(one.spec, there) if inside else listening(there, one.spec.port)
        told = foreign(found, one.spec.port)
        if told is not None:
            self.seen["foreign"] = to_json(told)
        elif found.ours:
            self.seen["listener"] = read.process_start_time
            self.seen.pop("foreign", None)
            return True
        return False

    def _alive(self, one: instances.Instance, now: float, read: Scrape) -> None:
        self.seen["answered"] = now
        self.progress.take(now, read)
        if self.seen.get("phase", HealthPhase.none) == HealthPhase.none:
            self.seen["phase"] = HealthPhase.http_ok
        needed = self.seen["phase"] in (HealthPhase.http_ok, HealthPhase.warmed)
        due = needed or self.progress.probe_due(now)
        if due and (self.asking is None or not self.asking.is_alive()) and now - self.asked_at > RETRY_S:
            self.asked_at = now
            body = self._examine if needed else self._pulse
            self.asking = threading.Thread(target=body, args=(one,), daemon=True)
            self.asking.start()

    def _examine(self, one: instances.Instance) -> None:
        """Warm-up, then the sanity question; in a thread, since either may hang with the engine."""
        seen = self.seen
        try:
            with EngineClient(f"http://{one.address}", api_key(one)) as client:
                if seen["phase"] == HealthPhase.http_ok:
                    seen["warm_up_s"] = warm_up(client, one.spec.served_name)
                    seen["phase"] = HealthPhase.warmed
                self._learn(one)
                verdict = prove(client, one.spec.served_name, noise=one.noise)
        except EngineError as error:
            seen["trouble"] = to_json(error.text)
            return
        seen["evidence"], seen["label"] = verdict.evidence(), to_json(verdict.label)
        seen["examined"] = time.time()
        seen["phase"] = HealthPhase.sane if verdict.sane else HealthPhase.insane

    def _learn(self, one: instances.Instance) -> None:
        """Keep how the calculator sees the model that was loaded, for comparing its sum with the log."""
        if one.backend in ascend.BACKENDS and lessons.SHAPE not in self.seen:
            try:
                shape = shape_on(inventory.host(one.host_id), one.spec.model_folder)
            except ConsoleError as error:
                print(f"instance {self.instance_id}: {error}")
            else:
                self.seen[lessons.SHAPE] = lessons.stored(shape)

    def _pulse(self, one: instances.Instance) -> None:
        """One token from an idle engine: /health alone says 200 while an engine hangs."""
        self.progress.probe_sent(time.time())
        try:
            with EngineClient(f"http://{one.address}", api_key(one)) as client:
                stream = client.chat_stream(one.spec.served_name, [{"role": "user", "content": "1"}], max_tokens=1)
                for _ in stream:
                    pass
        except EngineError as error:
            self.seen["trouble"] = to_json(error.text)
            return
        self.progress.probe_answered(time.time())

    # -- writing ---------------------------------------------------------------------------------------------

    def _write(self, one: instances.Instance, judged: Judgement, process: Process, *, ended: bool) -> None:
        if ended:
            self.seen["ended"] = time.time()
        health = json.dumps(self.seen, default=str)
        with writing() as session:
            row = session.get(models.Instance, one.id)
            if row is None or row.attempt != one.attempt:
                return  # deleted, or started anew meanwhile: what was seen is about the past
            if row.wish != one.wish:
                return  # the wish changed while we looked: judge again in the next round
            row.observed, row.health = time.time(), health
            self._mark_attempt(session.get_one(models.Attempt, (one.id, one.attempt)), judged, process, ended=ended)
            if row.state != judged.state:
                session.flush()
                move(session, row, f"instance:{row.id}", judged.state, actor=CONSOLE, reason=judged.reason)
            else:
                row.reason = to_json(judged.reason)

    def _mark_attempt(self, row: models.Attempt, judged: Judgement, process: Process, *, ended: bool) -> None:
        if judged.state == State.ready and row.ready is None:
            row.ready = time.time()
        if ended and row.ended is None:
            row.ended, row.code = time.time(), process.code
