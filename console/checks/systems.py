"""Which family an operating system belongs to, for the commands that a fix offers."""

from console.facts.os_release import OsRelease

DEBIAN = frozenset({"debian", "ubuntu"})


def is_debian(os_release: OsRelease | None) -> bool:
    return bool(os_release and {os_release.id or "", *(os_release.id_like or "").split()} & DEBIAN)
