"""Which operating system runs, from /etc/os-release."""

import re
from dataclasses import dataclass

from console.facts.lines import lines
from console.facts.trouble import Trouble, trouble_in

_LINE = re.compile(r"^\s*(?:export\s+)?([A-Z][A-Z0-9_]*)=(.*)$")
_SERVICE_PACK = re.compile(r"\bSP\s?(\d+)\b", re.IGNORECASE)
_IN_PARENTHESES = re.compile(r"\(([^)]*)\)")


@dataclass(frozen=True)
class OsRelease:
    """Fields of /etc/os-release. `sp` is the service pack ("SP3") where the version names one.

    Compare `id` without regard to case: openEuler writes it with a capital E.
    """

    id: str | None
    id_like: str | None
    name: str | None
    version_id: str | None
    version: str | None
    codename: str | None
    pretty: str | None
    sp: str | None
    status: str = "ok"


def parse_os_release(text: str) -> OsRelease | Trouble:
    """The fields of /etc/os-release; the first of a repeated key counts."""
    values: dict[str, str] = {}
    for row in lines(text):
        if match := _LINE.match(row):
            value = _unquoted(match.group(2))
            if value:
                values.setdefault(match.group(1), value)
    if not {"ID", "NAME", "PRETTY_NAME", "VERSION_ID", "VERSION"} & set(values):
        return trouble_in(text)
    version = values.get("VERSION")
    pack = _SERVICE_PACK.search(f"{version or ''} {values.get('PRETTY_NAME', '')}")
    return OsRelease(
        id=values.get("ID"),
        id_like=values.get("ID_LIKE"),
        name=values.get("NAME"),
        version_id=values.get("VERSION_ID"),
        version=version,
        codename=values.get("VERSION_CODENAME") or values.get("UBUNTU_CODENAME") or _codename(version),
        pretty=values.get("PRETTY_NAME"),
        sp=f"SP{pack.group(1)}" if pack else None,
    )


def _unquoted(value: str) -> str:
    """The value as a shell would read it: quotes removed, a comment behind it dropped."""
    value = value.strip().replace("“", '"').replace("”", '"')
    if value[:1] in ("'", '"'):
        return value[1:].partition(value[0])[0]
    return re.split(r"\s+#", value)[0].strip()


def _codename(version: str | None) -> str | None:
    found = _IN_PARENTHESES.search(version or "")
    if found is None or re.search(r"\bLTS\b|\bSP\s?\d", found.group(1), re.IGNORECASE):
        return None
    return found.group(1).strip() or None
