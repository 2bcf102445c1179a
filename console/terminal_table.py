"""Tables on a terminal: no frame, and nothing cut short, for a file name must be there to its end."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

PIPED_WIDTH = 240
"""Signs a line where nobody looks at the width: programs read it."""


def table_of(*heads: str) -> "Table":
    """Empty, with these heads; with none it has no line of heads."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, show_header=bool(heads))
    for head in heads:
        made.add_column(head, overflow="fold")
    return made


def draw(made: "Table", *, width: int | None = None) -> None:
    from rich.console import Console

    for column in made.columns:  # those of rows without a heading too
        column.overflow = "fold"
    Console(highlight=False, markup=False, width=width).print(made)


def piped_width() -> int | None:
    """PIPED_WIDTH where no person looks; None = as wide as the terminal."""
    return None if sys.stdout.isatty() else PIPED_WIDTH
