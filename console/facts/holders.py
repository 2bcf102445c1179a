"""Who holds NPUs, and which containers and container runtimes there are."""

from dataclasses import dataclass

from console.facts.lines import lines, whole
from console.facts.trouble import Trouble, trouble_in

_NO_DAEMON = "cannot connect to the docker daemon"


@dataclass(frozen=True)
class Holder:
    """A process on an NPU.

    node        number of the davinci node it has open; null when only npu-smi names it
    container   id of its container, null outside of one
    folder      where it runs; null when that cannot be seen
    """

    pid: int
    node: int | None
    container: str | None
    name: str | None
    folder: str | None = None


@dataclass(frozen=True)
class Holders:
    """`all_seen` is false when the question was not asked as root: processes of others may be missing."""

    holders: tuple[Holder, ...]
    all_seen: bool


@dataclass(frozen=True)
class Docker:
    """The container engine; without a version it is installed, but its daemon does not run."""

    version: str | None
    default_runtime: str | None
    runtimes: tuple[str, ...]

    @property
    def has_ascend(self) -> bool:
        return "ascend" in self.runtimes


@dataclass(frozen=True)
class Containers:
    """Running containers: id -> name."""

    names: dict[str, str]


def parse_holders(text: str) -> Holders | Trouble:
    """Lines `holder <pid> <node or -> <container or -> <name>` behind a line `all yes` or `all no`.

    A line `at <pid> <folder>` says where a process runs.
    """
    rows = [row.split(maxsplit=4) for row in lines(text)]
    seen = next((row[1] for row in rows if len(row) == 2 and row[0] == "all"), None)
    if seen is None:
        return trouble_in(text)
    folders = {row[1]: " ".join(row[2:]) for row in rows if len(row) >= 3 and row[0] == "at"}
    found: dict[tuple[int, int | None], Holder] = {}
    for row in rows:
        pid = whole(row[1]) if len(row) >= 4 and row[0] == "holder" else None
        if pid is not None:
            name = row[4] if len(row) > 4 else None
            container = None if row[3] == "-" else row[3]
            holder = Holder(pid, whole(row[2]), container, name, folders.get(row[1]))
            found.setdefault((pid, holder.node), holder)
    return Holders(tuple(found.values()), seen == "yes")


def parse_docker(text: str) -> Docker | Trouble:
    """Lines `server <version>`, `default <runtime>`, `runtimes <names>` of `docker info`."""
    if _NO_DAEMON in text.lower():
        return Docker(None, None, ())
    rows = {row.split()[0]: row.split()[1:] for row in lines(text) if row.split()}
    version = rows.get("server", [])
    if not version:
        return trouble_in(text)
    return Docker(version[0], next(iter(rows.get("default", [])), None), tuple(rows.get("runtimes", [])))


def parse_containers(text: str) -> Containers | Trouble:
    """Lines `<id> <name> <image>` behind a line `begin`."""
    if _NO_DAEMON in text.lower():
        return Containers({})
    rows = [row.split() for row in lines(text) if row.strip()]
    if not rows or rows[0] != ["begin"]:
        return trouble_in(text)
    if any(len(row) != 3 or not all(sign in "0123456789abcdef" for sign in row[0]) for row in rows[1:]):
        return trouble_in("\n".join(" ".join(row) for row in rows[1:]))
    return Containers({row[0]: row[1] for row in rows[1:]})
