"""What runs on the rehearsal host, and how busy that makes each chip.

A process counts when it lives in the mount namespace of this host and either is a vLLM engine or has a davinci node
open. Its CPU time becomes AICore %, its memory becomes HBM, and power and temperature follow with a lag.
"""

# ruff: noqa: PTH115, PTH208
# Without pathlib: see the module place.

from __future__ import annotations

import math
import os
import re
import time
from types import SimpleNamespace

from pretend import place

ENGINE = re.compile(r"^VLLM::|VLLMEngineCore|VLLMWorker|multiproc_executor")
SERVER = re.compile(r"(?:^|[/\s])vllm\s+serve\b|vllm_server\.py\b|vllm\.entrypoints")
WATCHER = re.compile(r"^(?:\S*/)?(?:ba|da)?sh\s|/pretend/main\.py ")
"""A shell, or a simulated program such as docker, that only starts or watches an engine."""
WARM_S, POWER_S = 25.0, 4.0
"""Time constants with which temperature and power follow the load."""
FRESH_S = 1.0
"""Figures younger than this are not measured again."""


class Running(SimpleNamespace):
    """A process that holds chips: their numbers as in /dev/davinci<N>; CPU in seconds, memory in MiB.

    The memory is the process's own, or what REHEARSAL_HBM_MB in its environment claims.
    """

    pid: int
    name: str
    nodes: tuple[int, ...]
    cpu_s: float
    age_s: float
    memory_mb: int


class Chip(SimpleNamespace):
    """How one chip is under its load; warmth and pull go from 0 (idle) to 1 (full)."""

    busy_pct: int
    warmth: float
    pull: float
    held: list[Running]


class _Seen(SimpleNamespace):
    """A process that may hold chips: those it has open, and those it was given."""

    pid: int
    session: int
    words: str
    nodes: tuple[int, ...]
    wished: tuple[int, ...]


def running(nodes: int) -> list[Running]:
    """The processes that hold some of the first `nodes` chips."""
    seen = [one for name in os.listdir("/proc") if name.isdigit() and (one := _look(f"/proc/{name}"))]
    by_session: dict[int, list[_Seen]] = {}
    for one in seen:
        by_session.setdefault(one.session, []).append(one)
    found = [(one, one.nodes) for one in seen if one.nodes]
    for group in by_session.values():
        found += _engines([one for one in group if not one.nodes])
    return [
        measured
        for one, held in found
        if (kept := tuple(node for node in held if node < nodes)) and (measured := _measure(one, kept))
    ]


def _engines(group: list[_Seen]) -> list[tuple[_Seen, tuple[int, ...]]]:
    """Which process of one instance is on which chip: workers one each, a lone engine on all it was given."""
    inner = [one for one in group if ENGINE.search(one.words)]
    workers = sorted((one for one in inner if "orker" in one.words), key=lambda one: one.pid)
    own = workers or inner or [one for one in group if SERVER.search(one.words)][:1]
    given = next((one.wished for one in group if one.wished), tuple(range(max(1, len(own)))))
    if len(own) == 1:
        return [(own[0], given)]
    return [(one, (given[index % len(given)],)) for index, one in enumerate(own)]


def _look(folder: str) -> _Seen | None:
    try:
        if not _is_ours(folder):
            return None
        words = _text(f"{folder}/cmdline").replace("\0", " ").strip()
        nodes = _open_nodes(folder)
        if not nodes and not ENGINE.search(words) and not SERVER.search(words):
            return None
        if not nodes and WATCHER.search(words):
            return None
        session = int(_text(f"{folder}/stat").rpartition(")")[2].split()[3])
        pid = int(folder.rpartition("/")[2])
        return _Seen(pid=pid, session=session, words=words, nodes=nodes, wished=_wished(folder))
    except OSError:
        return None  # gone meanwhile, or another user's


def _text(file: str) -> str:
    with open(file, errors="replace") as opened:
        return opened.read()


def _is_ours(folder: str) -> bool:
    prefix = os.environ.get("REHEARSAL_ROOT")
    if prefix:
        return variable(folder, "REHEARSAL_ROOT") == prefix
    return os.readlink(f"{folder}/ns/mnt") == os.readlink("/proc/self/ns/mnt")


def _open_nodes(folder: str) -> tuple[int, ...]:
    found = set()
    for name in os.listdir(f"{folder}/fd"):
        try:
            match = re.search(r"/dev/davinci(\d+)$", os.readlink(f"{folder}/fd/{name}"))
        except OSError:
            continue
        if match:
            found.add(int(match.group(1)))
    return tuple(sorted(found))


def _wished(folder: str) -> tuple[int, ...]:
    """The chips it was given; inside a container they count from the first that the container has."""
    asked = [int(number) for number in re.findall(r"\d+", variable(folder, "ASCEND_RT_VISIBLE_DEVICES"))]
    inside = [int(number) for number in re.findall(r"\d+", variable(folder, "REHEARSAL_NODES"))]
    if not inside:
        return tuple(asked)
    return tuple(inside[number] for number in asked if number < len(inside)) or tuple(inside)


def variable(folder: str, name: str) -> str:
    """A variable of the environment of a process (its folder in /proc); empty when it has none."""
    for word in _text(f"{folder}/environ").split("\0"):
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return ""


def _measure(one: _Seen, nodes: tuple[int, ...]) -> Running | None:
    folder = f"/proc/{one.pid}"
    try:
        fields = _text(f"{folder}/stat").rpartition(")")[2].split()
        name = _text(f"{folder}/comm").strip()
        uptime = float(_text("/proc/uptime").split()[0])
        claimed = variable(folder, "REHEARSAL_HBM_MB")
    except (OSError, IndexError):
        return None
    tick = os.sysconf("SC_CLK_TCK")
    age_s = max(0.01, uptime - int(fields[19]) / tick)
    cpu_s = (int(fields[11]) + int(fields[12])) / tick
    memory_mb = int(claimed) if claimed.isdecimal() else int(fields[21]) * os.sysconf("SC_PAGE_SIZE") // 2**20
    return Running(pid=one.pid, name=name, nodes=nodes, cpu_s=cpu_s, age_s=age_s, memory_mb=memory_mb)


def now(nodes: int, moment: float | None = None) -> list[Chip]:
    """The state of each chip at `moment` (Unix seconds; None = now)."""
    moment = time.time() if moment is None else moment
    found = running(nodes)
    with place.changing("load", place.RUN) as kept:
        if not 0 <= moment - kept.get("moment", -1.0) < FRESH_S or len(kept["chips"]) != nodes:
            kept.update(_next(kept, found, nodes, moment))
        chips = [Chip(busy_pct=one["busy"], warmth=one["warmth"], pull=one["pull"], held=[]) for one in kept["chips"]]
    for one in found:
        for node in one.nodes:
            chips[node].held.append(one)
    return chips


def _next(kept: place.Data, found: list[Running], nodes: int, moment: float) -> place.Data:
    passed = max(0.0, moment - kept.get("moment", moment))
    cpus = len(os.sched_getaffinity(0)) or 1
    busy = [0.0] * nodes
    for one in found:
        before = kept.get("cpu", {}).get(str(one.pid))
        share = (one.cpu_s - before) / passed if before is not None and passed else one.cpu_s / one.age_s
        for node in one.nodes:
            busy[node] += max(0.0, share) / cpus
    old = kept.get("chips") or [{"busy": 0, "warmth": 0.0, "pull": 0.0}] * nodes
    chips = []
    for node in range(nodes):
        target, before = min(1.0, busy[node]), old[node % len(old)]
        chips.append(
            {
                "busy": round(99 * target),
                "warmth": before["warmth"] + (target - before["warmth"]) * (1 - math.exp(-passed / WARM_S)),
                "pull": before["pull"] + (target - before["pull"]) * (1 - math.exp(-passed / POWER_S)),
            }
        )
    return {"moment": moment, "chips": chips, "cpu": {str(one.pid): one.cpu_s for one in found}}
