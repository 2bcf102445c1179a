"""Python interpreters on the PATH, whether they can make a virtual environment, and whether uv is there."""

import re
from dataclasses import dataclass

from console.facts.lines import clean, lines
from console.facts.trouble import Trouble, trouble_in

_PYTHON = re.compile(r"^python\s+(/\S.*?)\s+(\d+)\.(\d+)\.(\d+)\S*\s+venv=(yes|no)\s+pip=(yes|no)$")
_UV = re.compile(r"^uv (\d\S*)")


@dataclass(frozen=True)
class Python:
    """One interpreter. `venv`: module venv is there; `pip`: so is ensurepip, which a plain `python -m venv` needs."""

    path: str
    version: tuple[int, int, int]
    venv: bool
    pip: bool

    @property
    def makes_venvs(self) -> bool:
        return self.venv and self.pip


@dataclass(frozen=True)
class Uv:
    """`version` is null when uv is not on the PATH."""

    version: str | None


def parse_pythons(text: str) -> tuple[Python, ...]:
    """Lines `python <path> <version> venv=yes pip=yes`, each interpreter once; none is an answer too."""
    found: dict[str, Python] = {}
    for row in lines(text):
        if match := _PYTHON.match(row.strip()):
            path, *numbers, venv, pip = match.groups()
            major, minor, patch = map(int, numbers)
            found.setdefault(path, Python(path, (major, minor, patch), venv == "yes", pip == "yes"))
    return tuple(found.values())


def parse_uv(text: str) -> Uv | Trouble:
    stripped = clean(text).strip()
    if stripped == "absent":
        return Uv(None)
    match = _UV.match(stripped)
    return Uv(match.group(1)) if match else trouble_in(text)
