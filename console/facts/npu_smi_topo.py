"""How NPUs are linked, and which CPUs are near them: the matrix of `npu-smi info -t topo`."""

import re
from collections import Counter
from dataclasses import dataclass

from console.facts.lines import absent, lines
from console.facts.trouble import Trouble, trouble_in

_NAME = re.compile(r"(?:NPU|Phy-?ID|Device|Chip)\s?-?(\d+)", re.IGNORECASE)
_LINK = re.compile(r"[A-Z][A-Z0-9_]*")
_CPUS = re.compile(r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*")
_LEGEND = re.compile(r"^\s*([A-Z][A-Z0-9_]*)\s*=\s*\S")


@dataclass(frozen=True)
class Topology:
    """Links between NPUs.

    ids       NPU (A3: physical chip) numbers in the order of the matrix
    links     how often each kind of link stands in the matrix (each pair counts twice); kinds named in the legend
              count 0 when the matrix is complete and has none of them
    matrix    row id -> the links to `ids`, "X" for itself
    affinity  id -> CPUs near it ("0-63,128-191"); null when the output has no such column
    """

    npus: int
    ids: tuple[int, ...]
    links: dict[str, int]
    matrix: dict[str, tuple[str, ...]]
    affinity: dict[str, str] | None
    unread: tuple[str, ...] = ()
    status: str = "ok"


def parse_topo(text: str) -> Topology | Trouble:
    """The matrix in `text`; its header may be shifted against its rows."""
    ids: list[int] = []
    matrix: dict[str, tuple[str, ...]] = {}
    affinity: dict[str, str] = {}
    unread: list[str] = []
    legend: list[str] = []
    for row in lines(text.replace("|", " ")):
        names = [int(number) for number in _NAME.findall(row)]
        match = _NAME.match(row.strip())
        if match and len(names) == 1 and ids:
            links, cpus = _row(row.strip()[match.end() :].split(), len(ids))
            if links is None:
                unread.append(row.strip())
                continue
            matrix[match.group(1)] = links
            affinity.update({match.group(1): cpus} if cpus else {})
        elif names and not ids and (len(names) > 1 or "affinity" in row.lower() or match):
            ids = names
        elif found := _LEGEND.match(row):
            legend.append(found.group(1))
    if not ids:
        return trouble_in(text)
    return _topology(ids, matrix, affinity, unread, legend)


def _row(words: list[str], width: int) -> tuple[tuple[str, ...] | None, str | None]:
    """Links and CPUs of one row; None when the row is cut or not understood."""
    links = tuple(words[:width])
    if len(links) < width or not all(_LINK.fullmatch(link) for link in links):
        return None, None
    rest = "".join(words[width:])
    return links, rest if _CPUS.fullmatch(rest) else None


def _topology(
    ids: list[int], matrix: dict[str, tuple[str, ...]], affinity: dict[str, str], unread: list[str], legend: list[str]
) -> Topology:
    counts = Counter(link for links in matrix.values() for link in links if link != "X" and not absent(link))
    is_complete = len(matrix) == len(ids) and not unread
    named = {kind: 0 for kind in legend if is_complete and kind not in ("X", "NA")}
    return Topology(
        npus=len(ids),
        ids=tuple(ids),
        links={**named, **counts},
        matrix=matrix,
        affinity=affinity or None,
        unread=tuple(unread),
        status="ok" if is_complete else "partial",
    )
