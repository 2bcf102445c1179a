"""Which column a header of npu-smi names, and what the cells below it hold, whatever the widths are."""

import re

from console.facts.lines import absent, is_number, number
from console.facts.table import Row

Labels = tuple[tuple[str, ...], ...]
"""Column names, grouped as the header groups them between its bars."""

Pair = tuple[int | None, int | None]
Value = str | int | float | Pair | None

_UNIT = r"\s*(?:\([^)]*\))?"
_LABELS = {
    "aicore": rf"NPU\s*Util{_UNIT}|AI\s*Core{_UNIT}",
    "pid_in_container": r"Process\s*id\s*in\s*container",
    "pid": r"Process\s*id",
    "process_name": r"Process\s*name",
    "process_memory": rf"Process\s*mem(?:ory)?{_UNIT}",
    "hugepages": rf"Hugepages?-?\s*Usage{_UNIT}",
    "hbm": rf"HBM-?\s*Usage{_UNIT}",
    "memory": rf"Memory-?\s*Usage{_UNIT}",
    "npu": r"NPU(?:\s*ID)?",
    "phy": r"Phy-?\s*ID",
    "chip": r"Chip(?:\s*ID)?",
    "device": r"Device(?:\s*ID)?",
    "bus": r"Bus-?\s*Id",
    "name": r"Name",
    "health": r"Health",
    "power": rf"Power{_UNIT}",
    "temp": rf"Temp(?:erature)?{_UNIT}",
}
_ANY_LABEL = re.compile(
    "|".join(f"(?P<{name}>{pattern})" for name, pattern in _LABELS.items()) + r"|(?P<other>\S+)", re.IGNORECASE
)
_USED_OF_TOTAL = re.compile(r"(\d+|NA|-)\s*/\s*(\d+|NA|-)", re.IGNORECASE)
_TOKEN = re.compile(r"(?:\d+|NA|-)\s*/\s*(?:\d+|NA|-)(?!\S)|\S+", re.IGNORECASE)
_PAIRED = frozenset({"hugepages", "hbm", "memory"})
_WORDED = frozenset({"name", "health", "bus"})


def labels_of(cells: tuple[str, ...]) -> Labels:
    """The column names in each cell; a column that is not known here is "other"."""
    return tuple(tuple(str(match.lastgroup) for match in _ANY_LABEL.finditer(cell)) for cell in cells)


def values_of(row: Row, labels: Labels) -> tuple[dict[str, Value], bool]:
    """Values by column name, and whether every column of `labels` was there and understood."""
    if len(row.cells) != len(labels) and not row.cut:
        labels, row = _flat(labels), _flattened(row)
    values: dict[str, Value] = {}
    is_whole = len(row.cells) >= len(labels) and not row.cut
    for index, names in enumerate(labels[: len(row.cells)]):
        is_last_of_cut = row.cut and index == len(row.cells) - 1
        tokens = _TOKEN.findall(row.usable(index))
        found = _match(names, tokens, is_last_of_cut)
        is_whole = is_whole and found is not None
        if is_last_of_cut and index == len(labels) - 1 and found and len(found) == len(names):
            is_whole = True  # only the closing bar is missing
        values.update(found or {})
    return values, is_whole


def _match(names: tuple[str, ...], tokens: list[str], is_cut: bool) -> dict[str, Value] | None:
    """Tokens given to `names` in order; None when they do not fit (a cut cell gives what fits)."""
    if not tokens:
        return {}
    if names and names[-1] == "name" and len(tokens) > len(names):
        tokens = [*tokens[: len(names) - 1], " ".join(tokens[len(names) - 1 :])]
    if len(tokens) != len(names) and not is_cut:
        return {names[0]: _value(names[0], tokens[0])} if names[:1] == ("npu",) and is_number(tokens[0]) else None
    found: dict[str, Value] = {}
    for name, token in zip(names, tokens, strict=False):
        if not _fits(name, token):
            return found if is_cut else None
        found[name] = _value(name, token)
    return found


def _fits(name: str, token: str) -> bool:
    if absent(token) or name in _WORDED or name == "other":
        return True
    return bool(_USED_OF_TOTAL.fullmatch(token)) if name in _PAIRED else number(token) is not None


def _value(name: str, token: str) -> Value:
    if name in _WORDED or name == "other":
        return token
    if name in _PAIRED:
        match = _USED_OF_TOTAL.fullmatch(token)
        return (_whole(match.group(1)), _whole(match.group(2))) if match else None
    return number(token)


def _whole(word: str) -> int | None:
    return int(word) if word.isdigit() else None


def _flat(labels: Labels) -> Labels:
    return (tuple(name for cell in labels for name in cell),)


def _flattened(row: Row) -> Row:
    words = " ".join(cell for cell in row.cells if cell)
    return Row((words,), (words,), row.line, row.cut, row.last_word_whole)
