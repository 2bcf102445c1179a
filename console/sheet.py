"""A table as a CSV file that Excel opens as it is, Chinese included, and in which no cell is a formula."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

BOM = b"\xef\xbb\xbf"
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
"""The full-width signs too: an Excel that speaks Chinese takes them for the others."""


def sheet(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """UTF-8 with a byte order mark and CRLF; None is an empty cell.

    A text that a spreadsheet would take for a formula gets an apostrophe in front; numbers stay numbers.
    """
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow([_cell(one) for one in heads])
    table.writerows([_cell(one) for one in row] for row in rows)
    return BOM + written.getvalue().encode("utf-8", errors="replace")


def _cell(value: object) -> str:
    words = "" if value is None else str(value)
    if words.startswith(_FORMULA) and not _NUMBER.fullmatch(words):
        return f"'{words}"
    return words
