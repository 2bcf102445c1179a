"""What we make of a host's facts: one file per area, each check a pure judgement with evidence and a fix."""

from console.checks import (
    cann,
    card_health,
    card_use,
    cards,
    driver,
    links,
    machine,
    machine_size,
    network,
    npus,
    processor,
    resources,
    software,
    tuning,
)
from console.checks.check import AREAS, CHECKS, Check, Judged, Level, Verdict, judge

__all__ = [
    "AREAS",
    "CHECKS",
    "Check",
    "Judged",
    "Level",
    "Verdict",
    "cann",
    "card_health",
    "card_use",
    "cards",
    "driver",
    "judge",
    "links",
    "machine",
    "machine_size",
    "network",
    "npus",
    "processor",
    "resources",
    "software",
    "tuning",
]
