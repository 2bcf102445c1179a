"""A table that only shows: rows of words, numbers to the right, and beneath it why a value is missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

MISSING = "–"


@dataclass(frozen=True)
class Cell:
    """Words in one cell.

    tone    "", "warn", "bad" or "quiet"
    note    the number of a note below the table
    whole   more lines, such as a script, that open under the words
    """

    words: str
    tone: str = ""
    note: int | None = None
    whole: str = ""


@dataclass(frozen=True)
class Head:
    """A column: `right` for numbers, `text` where sentences stand, which may take several lines."""

    words: str
    right: bool = False
    text: bool = False


class Notes:
    """Sentences that cells refer to by number, each once, in the order they were first needed."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def missing(self, why: str) -> Cell:
        """The cell of a value that is not known."""
        if why not in self.sentences:
            self.sentences.append(why)
        return Cell(MISSING, "quiet", self.sentences.index(why) + 1)


def calm_table(key: str, heads: Sequence[Head], rows: Sequence[Sequence[Cell]], notes: Notes | None = None) -> None:
    """Draw it; everything in it is escaped."""
    with st.container(key=f"table-{key}"):
        st.html(html(heads, rows, notes))


def html(heads: Sequence[Head], rows: Sequence[Sequence[Cell]], notes: Notes | None = None) -> str:
    """The table and its notes as HTML."""
    top = "".join(f"<th{_class(one, '')}>{escape(one.words)}</th>" for one in heads)
    body = "".join(
        "<tr>" + "".join(_cell(cell, head) for cell, head in zip(row, heads, strict=True)) + "</tr>" for row in rows
    )
    below = "".join(f"<li>{escape(one)}</li>" for one in (notes.sentences if notes else ()))
    listed = f"<ol>{below}</ol>" if below else ""
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{listed}"


def _cell(cell: Cell, head: Head) -> str:
    mark = "" if cell.note is None else f"<sup>{cell.note}</sup>"
    words = f"{escape(cell.words)}{mark}"
    if cell.whole:
        words = f"<details><summary>{words}</summary><pre>{escape(cell.whole)}</pre></details>"
    return f"<td{_class(head, cell.tone)}>{words}</td>"


def _class(head: Head, tone: str) -> str:
    words = " ".join(one for one in ("num" if head.right else "text" if head.text else "", tone) if one)
    return f' class="{words}"' if words else ""
