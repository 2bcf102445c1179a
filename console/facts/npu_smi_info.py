"""The table of `npu-smi info`: versions, one entry per chip, processes, and which NPUs it says are idle."""

import re
from dataclasses import dataclass

from console.facts.npu_smi_reading import Device, Process, Reading
from console.facts.table import Row, read_table
from console.facts.trouble import Trouble, find_trouble, trouble_in

_TITLE = re.compile(r"npu-smi\s+v?([^\s|]+)\s+Version:\s*([^\s|]+)?", re.IGNORECASE)
_BUS = r"(?:[0-9A-Fa-f]{4}:)[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d"
_HEALTH = r"OK|Warning|Alarm|Critical|UNKNOWN"
_SCALAR = r"(?:[\d.]+|NA|-)"
_BARE_CARD = re.compile(rf"(\d+\s+\S+)\s+({_HEALTH})\s+({_SCALAR}\s+{_SCALAR}(?:\s+\d+\s*/\s*\d+)?)", re.I)
_BARE_CHIP = re.compile(rf"(\d*(?:\s+\d+)?)\s+({_BUS}|NA)\s+(\S+(?:\s+\d+\s*/\s*\d+)+)")


@dataclass(frozen=True)
class NpuSmiInfo:
    """What the table says.

    status            "ok", or "partial" when cards or parts of cards are missing
    process_table     "present", "absent" or "truncated"
    idle_npus         NPUs of which the output says that no process runs there
    incomplete_npus   NPUs whose rows are cut or cannot be read; the values that are missing are null
    unread            lines of the table that could not be understood
    """

    status: str
    tool_version: str | None
    driver_version: str | None
    devices: tuple[Device, ...]
    processes: tuple[Process, ...]
    idle_npus: tuple[int, ...]
    process_table: str
    incomplete_npus: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def parse_npu_smi_info(text: str) -> NpuSmiInfo | Trouble:
    """The table in `text`, however it was pasted; a `Trouble` when there is none.

    Of several captures in one text the last complete one counts.
    """
    captures = [_read(items) for items in _captures(read_table(text))]
    seen = [capture for capture in captures if capture is not None]
    if not seen:
        return trouble_in(text)
    best = next((capture for capture in reversed(seen) if capture.status == "ok"), seen[-1])
    if not best.devices and not best.processes and not best.idle_npus:
        return find_trouble(text) or best
    return best


def _captures(items: list[Row | str]) -> list[list[Row | str]]:
    """`items`, parted before every title line but the first."""
    parts: list[list[Row | str]] = [[]]
    has_title = False
    for item in items:
        is_title = bool(_TITLE.search(item.line if isinstance(item, Row) else item))
        if is_title and has_title:
            parts.append([])
        has_title = has_title or is_title
        parts[-1].append(item)
    return parts


def _read(items: list[Row | str]) -> NpuSmiInfo | None:
    reading, tool, driver = Reading(), None, None
    for item in items:
        row = item if isinstance(item, Row) else _bare_row(item)
        title = _TITLE.search(item.line if isinstance(item, Row) else item)
        if title:
            is_cut = row is not None and row.cut and not row.last_word_whole and title.end() == len(row.line)
            tool, driver = title.group(1), None if is_cut else title.group(2)
        elif row is not None:
            reading.row(row)
        else:
            reading.line(str(item))
    reading.end()
    if not (reading.table_seen or tool):
        return None
    return NpuSmiInfo(
        status="ok" if reading.devices and not reading.incomplete and not reading.is_broken else "partial",
        tool_version=tool,
        driver_version=driver,
        devices=tuple(reading.devices),
        processes=tuple(reading.processes),
        idle_npus=reading.idle_npus(),
        process_table=reading.process_table,
        incomplete_npus=tuple(dict.fromkeys(reading.incomplete)),
        warnings=tuple(reading.warnings),
        unread=tuple(reading.unread),
    )


def _bare_row(line: str) -> Row | None:
    """A table row whose bars were lost on the way."""
    match = _BARE_CARD.fullmatch(line) or _BARE_CHIP.fullmatch(line)
    return Row(match.groups(), match.groups(), line) if match else None
