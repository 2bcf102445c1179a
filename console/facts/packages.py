"""Which Python packages are installed, from `pip list`, `pip freeze` or a collect_env report."""

import json
import re
from dataclasses import dataclass

from console.facts.lines import clean, lines
from console.facts.trouble import Trouble, trouble_in

_VERSION = (
    r"v?\d+(?:!\d+)?(?:\.\d+)*(?:[-_.]?(?:alpha|beta|preview|pre|post|rev|dev|rc|a|b|c|r)[-_.]?\d*)*(?:\+[\w.-]+)?"
)
_PINNED = re.compile(rf"(?:\[\w+\]\s*)?([A-Za-z0-9][\w.-]*)\s*==\s*({_VERSION})")
_COLUMNS = re.compile(rf"(?:\[\w+\]\s*)?([A-Za-z0-9][\w.-]*)\s+({_VERSION})(?:\s+/\S.*)?")
_LEGACY = re.compile(rf"([A-Za-z0-9][\w.-]*)\s+\(({_VERSION})(?:,.*)?\)")
_REPORTED = re.compile(rf"(vLLM(?: Ascend)?|PyTorch) Version\s*[:：]\s*({_VERSION}).*", re.IGNORECASE)
_REPORTED_NAMES = {"pytorch": "torch"}
_EDITABLE = re.compile(rf"# Editable install .*\(([A-Za-z0-9][\w.-]*)==({_VERSION})\)")
_WHEEL = re.compile(rf"([A-Za-z0-9][\w.-]*)\s+@\s+\S*/[\w.]+-({_VERSION})-[\w.]+-[\w.]+-[\w.]+\.whl(?:#\S*)?")
_ELSEWHERE = re.compile(r"-e\s+\S*#egg=\S+|[A-Za-z0-9][\w.-]*\s+@\s+\S+://\S+")
"""A package that was built from elsewhere, whose line does not tell its version."""
_RELEASE = re.compile(r"v?(\d+(?:\.\d+)*)")
_PAIRS = (("torch-npu", "torch"), ("vllm-ascend", "vllm"))
"""Packages whose releases must agree."""


@dataclass(frozen=True)
class Packages:
    """Normalised name -> version. `mismatch` names pairs whose releases differ; null when no pair is complete.

    unread  lines of packages that do not tell their version
    """

    packages: dict[str, str]
    mismatch: tuple[str, ...] | None
    unread: tuple[str, ...] = ()
    status: str = "ok"


def parse_packages(text: str) -> Packages | Trouble:
    """Packages in `text`, one a line; lines of another form are passed over."""
    found = _from_json(text)
    unread: list[str] = []
    noted = [row for row in clean(text).split("\n") if row.strip().startswith("# Editable")]
    for row in [*lines(text), *noted] if not found else []:
        stripped = row.strip()
        if match := _REPORTED.fullmatch(stripped):
            name = normalised(match.group(1))
            found.setdefault(_REPORTED_NAMES.get(name, name), match.group(2))
        elif match := _EDITABLE.fullmatch(stripped) or _WHEEL.fullmatch(stripped):
            found.setdefault(normalised(match.group(1)), match.group(2))
        elif _ELSEWHERE.fullmatch(stripped):
            unread.append(stripped)
        elif match := _PINNED.match(stripped) or _LEGACY.fullmatch(stripped) or _COLUMNS.fullmatch(stripped):
            found.setdefault(normalised(match.group(1)), match.group(2))
    if not found:
        return trouble_in(text)
    pairs = [(one, other) for one, other in _PAIRS if one in found and other in found]
    differing = tuple(
        f"{one} {_public(found[one])} vs {other} {_public(found[other])}"
        for one, other in pairs
        if _release(found[one]) != _release(found[other])
    )
    return Packages(found, differing if pairs else None, tuple(unread))


def normalised(name: str) -> str:
    """As package indexes compare names: lower case, one dash for runs of dots, dashes, underscores (and blanks)."""
    return re.sub(r"[-_.\s]+", "-", name.strip()).lower()


def _from_json(text: str) -> dict[str, str]:
    stripped = clean(text).strip()
    if not stripped.startswith("["):
        return {}
    try:
        entries = json.loads(stripped)
    except ValueError:
        return {}
    named = [entry for entry in entries if isinstance(entry, dict) and "name" in entry and "version" in entry]
    return {normalised(str(entry["name"])): str(entry["version"]) for entry in named}


def _release(version: str) -> tuple[int, ...]:
    match = _RELEASE.match(version)
    numbers = [int(part) for part in match.group(1).split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _public(version: str) -> str:
    """Without the local part and the development number."""
    return re.sub(r"\.dev\d+$", "", version.partition("+")[0])
