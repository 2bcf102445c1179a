"""Going down the table of `npu-smi info` row by row: a card row, its chip row, then the processes."""

import re
from dataclasses import dataclass, field, replace

from console.facts.lines import absent, whole
from console.facts.npu_smi_cells import Labels, Value, labels_of, values_of
from console.facts.table import Row

_IDLE = re.compile(r"No running process(?:es)? found(?:\s+in\s+NPU\s*(?:ID)?\s*[:：]?\s*(\d+)?)?", re.IGNORECASE)
_WARNING = re.compile(r"^(?!.*Permanently added)\[?WARN(?:ING)?\]?[:\s]*(?:The\s+)?([^,.;]+)", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*\d+\s+\S")
_BUS_ID = re.compile(r"(?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]")
_BARE_PROCESS = re.compile(r"(\d+\s+\d+)\s+(\d+)\s+(\S.*?)\s+(\d+)(?:\s+(\d+|NA))?")
_CARD_LABELS: Labels = (("npu", "name"), ("health",), ("power", "temp", "hugepages"))
_PROCESS_LABELS: Labels = (("npu", "chip"), ("pid",), ("process_name",), ("process_memory",))


@dataclass(frozen=True)
class Device:
    """One chip. Megabytes are MiB as npu-smi prints them; null: NA, "-", cut, or no such column.

    power_w of an A3 belongs to the whole NPU and stands at its first chip only.
    """

    npu: int
    chip: int | None = None
    phy_id: int | None = None
    logic_id: int | None = None
    name: str | None = None
    health: str | None = None
    power_w: float | None = None
    temp_c: float | None = None
    bus_id: str | None = None
    aicore_pct: float | None = None
    hugepages_used: int | None = None
    hugepages_total: int | None = None
    mem_used_mb: int | None = None
    mem_total_mb: int | None = None
    hbm_used_mb: int | None = None
    hbm_total_mb: int | None = None


@dataclass(frozen=True)
class Process:
    """One process on one chip; the driver cuts `name` to 15 characters and may leave it empty."""

    npu: int
    chip: int | None
    pid: int | None
    name: str | None
    mem_mb: int | None
    pid_in_container: int | None = None


@dataclass
class Reading:
    """What is known after the rows read so far."""

    devices: list[Device] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    incomplete: list[int] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    process_table: str = "absent"
    table_seen: bool = False
    is_broken: bool = False
    _card: Device | None = None
    _idle: list[int] = field(default_factory=list)
    _all_idle: bool = False
    _card_labels: Labels = _CARD_LABELS
    _chip_labels: Labels | None = None
    _process_labels: Labels | None = None

    def line(self, line: str) -> None:
        """A line without bars: a header or an idle line that lost them, a warning, or noise."""
        if self._idle_line(Row((line,), (line,), line)) or self._header((line,)):
            return
        if self._process_labels is not None and (bare := _BARE_PROCESS.fullmatch(line)):
            cells = tuple(cell for cell in bare.groups() if cell is not None)
            self._process(Row(cells, cells, line))
        elif warning := _WARNING.match(line):
            self.warnings.append(warning.group(1).strip())
        elif self.table_seen and _NUMBERED.match(line):
            self.end()  # the chip row that comes next may belong to this line, and not to the card before it
            self.unread.append(line)

    def row(self, row: Row) -> None:
        if self._idle_line(row) or self._header(row.cells):
            return
        if self._process_labels is not None or self._looks_like_process(row):
            self._process(row)
        elif self._looks_like_chip(row):
            self._chip(row)
        else:
            self._begin_card(row)

    def end(self) -> None:
        """Close a card whose chip row never came."""
        if self._card is not None:
            self.devices.append(self._card)
            self.incomplete.append(self._card.npu)
            self._card = None

    def idle_npus(self) -> tuple[int, ...]:
        busy = {process.npu for process in self.processes}
        rest = [device.npu for device in self.devices if self._all_idle and device.npu not in busy]
        return tuple(dict.fromkeys(self._idle + rest))

    def _idle_line(self, row: Row) -> bool:
        match = _IDLE.search(row.line)
        if not match:
            return False
        self.end()
        self.table_seen = True
        self.process_table = "truncated" if row.cut else "present"
        if match.group(1) is None:
            self._all_idle = not row.cut or len({device.npu for device in self.devices}) == 1
        elif not row.cut or row.last_word_whole or match.end() < len(row.line):
            self._idle.append(int(match.group(1)))
        return True

    def _header(self, cells: tuple[str, ...]) -> bool:
        labels = labels_of(cells)
        names = [label for cell in labels for label in cell]
        flat = set(names) - {"other"}
        if names.count("other") > len(flat) // 2:
            return False
        if {"pid", "process_name", "process_memory"} & flat:
            self.end()
            is_bare = len(labels) == 1
            self._process_labels = (("npu", "chip"), *((name,) for name in names[2:])) if is_bare else labels
            self.process_table = "truncated"
        elif "health" in flat and flat & {"power", "temp", "npu"}:
            self._card_labels = labels
        elif "bus" in flat:
            self._chip_labels = labels
        else:
            return False
        self.table_seen = True
        return True

    def _looks_like_process(self, row: Row) -> bool:
        """A row of numbers where no card is open: a process table without its header."""
        if self._card is not None or len(row.cells) < 4 or row.cut:
            return False
        ids = row.cells[0].split()
        return 1 <= len(ids) <= 2 and all(map(str.isdigit, ids)) and row.cells[1].isdigit()

    def _process(self, row: Row) -> None:
        self.table_seen = True
        self.process_table = "truncated" if row.cut else "present"
        process = read_process(row, self._process_labels or _PROCESS_LABELS)
        if process is None or row.cut:
            self.unread.append(row.line)
        if process is not None:
            self.processes.append(process)

    def _looks_like_chip(self, row: Row) -> bool:
        if any(_BUS_ID.fullmatch(cell) for cell in row.cells):
            return True
        ids = row.cells[0].split()
        after = row.cells[1] if len(row.cells) > 1 else ""
        return self._card is not None and all(map(str.isdigit, ids)) and (absent(after) or row.cut)

    def _begin_card(self, row: Row) -> None:
        self.end()
        values, is_whole = values_of(row, self._card_labels)
        npu = values.get("npu")
        if not isinstance(npu, int):
            self.unread.append(row.line)
            self.is_broken = True
            return
        self.table_seen = True
        self._note(npu, row, is_whole)
        used, total = _pair(values.get("hugepages"))
        self._card = Device(
            npu=npu,
            name=_words(values.get("name")),
            health=_words(values.get("health")),
            power_w=_number(values.get("power")),
            temp_c=_number(values.get("temp")),
            hugepages_used=used,
            hugepages_total=total,
        )

    def _chip(self, row: Row) -> None:
        if self._card is None:
            self.unread.append(row.line)
            self.table_seen = self.is_broken = True
            return
        values, is_whole = values_of(row, self._chip_labels or _usual_chip_labels(row))
        self._note(self._card.npu, row, is_whole)
        bus = _words(values.get("bus"))
        used, total = _pair(values.get("memory"))
        hbm_used, hbm_total = _pair(values.get("hbm"))
        chip = replace(
            self._card,
            chip=_whole(values.get("chip")),
            phy_id=_whole(values.get("phy")),
            logic_id=_whole(values.get("device")),
            bus_id=None if absent(bus) else bus,
            aicore_pct=_number(values.get("aicore")),
            mem_used_mb=used,
            mem_total_mb=total,
            hbm_used_mb=hbm_used,
            hbm_total_mb=hbm_total,
        )
        self.devices.append(chip)
        self._card = None

    def _note(self, npu: int, row: Row, is_whole: bool) -> None:
        if not is_whole:
            self.incomplete.append(npu)
            self.unread.append(row.line)


def read_process(row: Row, labels: Labels) -> Process | None:
    """The process of one row; a name may hold bars, so the columns behind it are counted from the right."""
    columns = [names[0] if names else "" for names in labels]
    name_at = columns.index("process_name") if "process_name" in columns else None
    extra = len(row.cells) - len(columns)
    cells = [row.usable(index) for index in range(len(row.cells))]
    if name_at is not None and extra > 0 and not row.cut:
        cells[name_at : name_at + extra + 1] = ["|".join(row.raw[name_at : name_at + extra + 1]).strip()]
    by_column = dict(zip(columns, cells, strict=False))
    ids = [whole(word) for word in by_column.get("npu", "").split()]
    pid = whole(by_column.get("pid"))
    if not ids or ids[0] is None or pid is None:
        return None
    return Process(
        npu=ids[0],
        chip=ids[1] if len(ids) > 1 else None,
        pid=pid,
        name=None if row.cut and name_at == len(row.cells) - 1 else by_column.get("process_name"),
        mem_mb=whole(by_column.get("process_memory")),
        pid_in_container=whole(by_column.get("pid_in_container")),
    )


def _usual_chip_labels(row: Row) -> Labels:
    """For a chip row without its header: two numbers in front are the chip and an id of unknown kind."""
    pairs = row.line.count("/")
    ids = ("chip", "id") if len(row.cells[0].split()) > 1 else ("chip",)
    return (ids, ("bus",), ("aicore", "memory", "hbm") if pairs > 1 else ("aicore", "memory"))


def _pair(value: Value) -> tuple[int | None, int | None]:
    return value if isinstance(value, tuple) else (None, None)


def _words(value: Value) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Value) -> float | None:
    return value if isinstance(value, int | float) else None


def _whole(value: Value) -> int | None:
    return value if isinstance(value, int) else None
