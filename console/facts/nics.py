"""Network cards of the host: `ethtool` for speed and link, `ibv_devinfo` for RDMA ports."""

import re
from dataclasses import dataclass
from itertools import zip_longest

from console.facts.lines import Fields, absent, key_of, lines, pairs, whole
from console.facts.trouble import Trouble, trouble_in

_IFACE = re.compile(r"Settings for\s+(\S+?):?\s*$")
_SPEED = re.compile(r"(\d+)\s*Mb/s")
_FIRST_WORD = re.compile(r"^(\S+?)(?:\s*\(\d+\))?$")


@dataclass(frozen=True)
class Ethtool:
    """The first interface in the text; null where the driver does not know ("Unknown!")."""

    iface: str | None
    speed_mbps: int | None
    duplex: str | None
    link: bool | None
    autoneg: bool | None
    port: str | None
    status: str = "ok"


@dataclass(frozen=True)
class Nics:
    """All physical interfaces; none is an answer too."""

    nics: tuple[Ethtool, ...]
    status: str = "ok"


@dataclass(frozen=True)
class RdmaPort:
    """One port; `link_layer` Ethernet means RoCE, whatever the transport line says."""

    port: int
    state: str | None
    mtu: int | None
    link_layer: str | None


@dataclass(frozen=True)
class Hca:
    """One RDMA card."""

    name: str
    firmware: str | None
    ports: tuple[RdmaPort, ...]


@dataclass(frozen=True)
class IbvDevinfo:
    """All RDMA cards; none is an answer too."""

    hcas: tuple[Hca, ...]
    status: str = "ok"


def parse_ethtool(text: str) -> Ethtool | Trouble:
    """Link settings of one interface."""
    rows = lines(text)
    heads = [(index, match.group(1)) for index, row in enumerate(rows) if (match := _IFACE.search(row))]
    if heads:
        rows = rows[heads[0][0] + 1 : heads[1][0] if len(heads) > 1 else None]
    fields = Fields.of(pairs(rows))
    if not any(key in fields for key in ("Speed", "Duplex", "Link detected", "Supported ports")):
        return trouble_in(text)
    speed = _SPEED.fullmatch(fields.words("Speed") or "")
    duplex = fields.words("Duplex")
    return Ethtool(
        iface=heads[0][1] if heads else None,
        speed_mbps=int(speed.group(1)) if speed else None,
        duplex=None if duplex is None or duplex.lower().startswith("unknown") else duplex,
        link={"yes": True, "no": False}.get((fields.words("Link detected") or "").lower()),
        autoneg={"on": True, "off": False}.get((fields.words("Auto-negotiation") or "").lower()),
        port=fields.words("Port"),
    )


def parse_nics(text: str) -> Nics | Trouble:
    """Link settings of several interfaces, one after the other, with a line `end` behind the last."""
    rows = lines(text)
    if not rows or "end" not in rows:
        return trouble_in(text)
    heads = [index for index, row in enumerate(rows) if _IFACE.search(row)]
    parts = ["\n".join(rows[begin:end]) for begin, end in zip_longest(heads, heads[1:])]
    return Nics(tuple(found for part in parts if isinstance(found := parse_ethtool(part), Ethtool)))


def parse_ibv_devinfo(text: str) -> IbvDevinfo | Trouble:
    """RDMA cards and their ports."""
    cards: list[tuple[str, list[tuple[str, str, str]]]] = []
    for key, value, line in pairs(lines(text)):
        if key == key_of("hca_id"):
            cards.append((value, []))
        elif cards:
            cards[-1][1].append((key, value, line))
    if not cards:
        return IbvDevinfo(()) if re.search(r"no IB devices found", text, re.IGNORECASE) else trouble_in(text)
    return IbvDevinfo(tuple(Hca(name, Fields.of(rows).words("fw_ver"), _ports(rows)) for name, rows in cards))


def _ports(rows: list[tuple[str, str, str]]) -> tuple[RdmaPort, ...]:
    blocks: list[list[tuple[str, str, str]]] = []
    for row in rows:
        if row[0] == "port":
            blocks.append([row])
        elif blocks:
            blocks[-1].append(row)
    ports = []
    for fields in map(Fields.of, blocks):
        number = fields.whole("port")
        if number is not None:
            mtu = whole(_bare(fields.words("active_mtu")))
            ports.append(RdmaPort(number, _bare(fields.words("state")), mtu, _bare(fields.words("link_layer"))))
    return tuple(ports)


def _bare(words: str | None) -> str | None:
    """The word without the code in parentheses behind it."""
    match = _FIRST_WORD.match((words or "").strip())
    return None if match is None or absent(match.group(1)) else match.group(1)
