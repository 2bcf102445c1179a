"""Keeps device nodes open, as an engine in a container does: `holder.py NAME NODE... [--while PID]`."""

import os
import sys
import time
from pathlib import Path


def main(words: list[str]) -> None:
    watched = words[words.index("--while") + 1] if "--while" in words else ""
    name, *nodes = words[: words.index("--while")] if watched else words
    Path("/proc/self/comm").write_text(name[:15])
    opened = [os.open(node, os.O_RDONLY) for node in nodes]
    while opened and (not watched or Path("/proc", watched).exists()):
        time.sleep(2)


if __name__ == "__main__":
    main(sys.argv[1:])
