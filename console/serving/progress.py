"""Whether an engine that answers /health also gets on with its work."""

import time
from dataclasses import dataclass

from console.metrics.scrape import Scrape

STUCK_S = 60.0
"""Seconds with requests in the engine and not one token more, prompt or answer: longer than any prefill we serve."""
IDLE_PROBE_S = 60.0
"""Seconds without proof of life after which an idle engine is asked for one token."""


@dataclass
class Progress:
    """What moved last, by the engine's own counters. Times are Unix seconds."""

    tokens: float = -1.0
    moved: float = 0.0
    busy_since: float = 0.0
    probed: float = 0.0
    unanswered_since: float = 0.0

    def take(self, now: float, read: Scrape) -> None:
        """Note one scrape."""
        tokens = (read.total("generation_tokens_total") or 0.0) + (read.total("prompt_tokens_total") or 0.0)
        if tokens != self.tokens:
            self.tokens, self.moved = tokens, now
        if not ((read.running or 0) + (read.waiting or 0)):
            self.busy_since = 0.0
        elif not self.busy_since:
            self.busy_since = now

    def stuck_s(self) -> float:
        """Seconds since requests wait in vain, 0 when nothing does or it has not been long."""
        now = time.time()
        waiting_since = max(self.moved, self.busy_since) if self.busy_since else self.unanswered_since
        waited = now - waiting_since if waiting_since else 0.0
        return waited if waited > STUCK_S else 0.0

    def probe_due(self, now: float) -> bool:
        """Whether an idle engine has proved nothing for a while."""
        return not self.busy_since and now - max(self.moved, self.probed) > IDLE_PROBE_S

    def probe_sent(self, now: float) -> None:
        self.probed = now
        self.unanswered_since = self.unanswered_since or now

    def probe_answered(self, now: float) -> None:
        self.probed, self.unanswered_since = now, 0.0
