"""What we make of a host's facts: one file per area, each check a pure judgement with evidence and a fix."""

from console.checks import machine, npus, processor, resources, software
from console.checks.check import AREAS, CHECKS, Check, Judged, Level, Verdict, judge

__all__ = [
    "AREAS",
    "CHECKS",
    "Check",
    "Judged",
    "Level",
    "Verdict",
    "judge",
    "machine",
    "npus",
    "processor",
    "resources",
    "software",
]
