"""A file to import hosts from: which kind it is, and what it says."""

from enum import StrEnum
from pathlib import Path

from console.errors import InvalidInput
from console.hosts import host_csv, ssh_config, ssh_config_text
from console.hosts.importing import Read
from console.text import say

SSH_CONFIG = "~/.ssh/config"


class Kind(StrEnum):
    SSH = "ssh"
    CSV = "csv"


def read(path: Path, kind: Kind | None = None) -> Read:
    """What the file says; without `kind` it is told from name and content. InvalidInput when that cannot be."""
    path = path.expanduser()
    data = _bytes(path)
    kind = kind or kind_of(path, data)
    return host_csv.read_csv(data) if kind == Kind.CSV else ssh_config.read_ssh_config(path)


def kind_of(path: Path, data: bytes) -> Kind:
    """By its name, else by how it begins."""
    if path.suffix.lower() in (".csv", ".tsv"):
        return Kind.CSV
    if path.name == "config" or ssh_config_text.evident(data.decode("utf-8", errors="replace")):
        return Kind.SSH
    if host_csv.evident(data):
        return Kind.CSV
    raise InvalidInput(
        say("{path} looks neither like an ssh config nor like a CSV with headings. Say which it is.", path=str(path))
    )


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > host_csv.MOST_BYTES:
            raise InvalidInput(
                say("The file is larger than {size} MB; a list of hosts is not.", size=host_csv.MOST_BYTES // 10**6)
            )
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(
            say("{path} cannot be read: {error}", path=str(path), error=error.strerror or str(error))
        ) from error
