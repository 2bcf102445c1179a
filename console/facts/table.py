"""Tables drawn with bars, as npu-smi and hccn_tool print them: rows of cells that know whether they were cut."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from console.facts.lines import clean, is_prompt

_BARS = str.maketrans({"│": "|", "┃": "|", "｜": "|"})
_OPENS = re.compile(r"^\s*\|")
_BORDER = re.compile(r"^[\s|]*[+┌├└╔╠╚][-=+─═┬┼┴┐┤┘\s|]*$")


@dataclass(frozen=True)
class Row:
    """One line with bars.

    cells     texts between the bars, blanks around them removed
    raw       the same, as printed
    cut       the line ends inside the table: what follows is missing
    last_word_whole   in a cut row, whether a blank follows the last word, so that the word itself is complete
    """

    cells: tuple[str, ...]
    raw: tuple[str, ...]
    line: str
    cut: bool = False
    last_word_whole: bool = True

    def usable(self, index: int) -> str:
        """The cell at `index` without the last word of a cut row, which may be a part of a longer one."""
        cell = self.cells[index] if index < len(self.cells) else ""
        if self.cut and not self.last_word_whole and index == len(self.cells) - 1:
            return " ".join(cell.split()[:-1])
        return cell


def read_table(text: str) -> list[Row | str]:
    """Rows with bars as `Row`, everything else that is neither border nor prompt as the line itself."""
    lines = _joined([line for line in clean(text).translate(_BARS).split("\n") if not is_prompt(line)])
    closed = any(_OPENS.match(line) and line.rstrip().endswith("|") for line in lines)
    found: list[Row | str] = []
    for index, line in enumerate(lines):
        if not line.strip(" \t|") or _BORDER.match(line):
            continue
        ends_text = index == len(lines) - 1
        found.append(_row(line, closed or ends_text) if _OPENS.match(line) else line.strip())
    return found


def _row(line: str, must_close: bool) -> Row:
    parts = line[line.index("|") + 1 :].split("|")
    is_closed = len(parts) > 1 and not parts[-1].strip()
    if is_closed:
        parts = parts[:-1]
    return Row(
        cells=tuple(part.strip() for part in parts),
        raw=tuple(parts),
        line=line.strip(),
        cut=must_close and not is_closed,
        last_word_whole=line != line.rstrip(),
    )


def _joined(lines: list[str]) -> list[str]:
    """Rows that a narrow terminal broke in two, put together again."""
    return list(_join(lines))


def _join(lines: list[str]) -> Iterator[str]:
    waiting = ""
    for line in lines:
        opens, closes = bool(_OPENS.match(line)), line.rstrip().endswith("|")
        is_rest = closes and (not opens or not line.strip(" \t|"))
        if waiting and is_rest and not _BORDER.match(line):
            yield waiting + line
            waiting = ""
            continue
        if waiting:
            yield waiting
        waiting = line if opens and not closes else ""
        if not waiting:
            yield line
    if waiting:
        yield waiting
