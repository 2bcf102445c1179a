"""The network ports of NPUs: answers of hccn_tool and the addresses kept in /etc/hccn.conf."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from console.facts.lines import Fields, Number, absent, clean, is_prompt, key_of, lines, number, pairs, whole
from console.facts.table import Row, read_table
from console.facts.trouble import Trouble, find_trouble, trouble_in

_TLS = re.compile(r"tls switch\s*\[(\d)\]", re.IGNORECASE)
_PRESET = re.compile(r"tls preconfigured\s*\[(\d)\]", re.IGNORECASE)
_ALARM = re.compile(r"alarm time threshold\s*\[(\d+)\]", re.IGNORECASE)
_DEVICE = re.compile(r"(?:dev_id|device)\s*[:\s]\s*(\d+)\b", re.IGNORECASE)
_COMMAND = re.compile(r"hccn_tool\s+.*?-i\s+(\d+)\b")
_IFACE = re.compile(r"Settings for\s+(\S+?):")
_SPEED = re.compile(r"(\d+)\s*Mb/s")
_PING = re.compile(r"^device\s+(\d+)\s+PING\b", re.IGNORECASE)
_PACKETS = re.compile(r"(\d+)\s+packets transmitted,\s*(\d+)\s+received,\s*(\d+(?:\.\d+)?)%")
_DEFAULT_ROUTE = re.compile(r"^\s*(?:default|0\.0\.0\.0)\s+(\S+)\s+0\.0\.0\.0\s+.*?(\S+)\s*$")
_GATEWAY = re.compile(r"default gateway\s*:\s*([^,\s]+)(?:.*?Iface\s*:\s*(\S+))?", re.IGNORECASE)
_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_VNIC = re.compile(r"(?:end\d+v\d+|vnic\d*)", re.IGNORECASE)
_VALUE = re.compile(r"^\s*([A-Za-z][\w /()%-]*?)\s*:\s*(\S.*)$")
_CONF = re.compile(r"^\s*([A-Za-z][A-Za-z0-9_]*?)_(\d+)\s*=\s*(\S.*)$")


@dataclass(frozen=True)
class Ping:
    """One `-ping`; null when the summary line is missing."""

    device: int
    sent: int | None = None
    received: int | None = None
    loss_pct: float | None = None


@dataclass(frozen=True)
class Port:
    """One port of a 950 (`-dev_info`)."""

    die: int | None
    port: int | None
    speed_gbps: Number | None
    type: str | None
    link: str | None


@dataclass(frozen=True)
class Hccn:
    """Whatever the commands in the text said; null for what was not asked.

    link, ip, net_health   when the text asks several devices that differ, null: see links, ips, net_healths
    ip        as printed, even when partly masked: check it before use
    healthy   null when no peer was configured to probe (Init)
    values    every `name: value` line, when none of the answers above was among them (such as -stat)
    """

    dev_id: int | None = None
    link: str | None = None
    links: tuple[str, ...] = ()
    net_health: str | None = None
    net_healths: tuple[str, ...] = ()
    healthy: bool | None = None
    ip: str | None = None
    ips: tuple[str, ...] = ()
    netmask: str | None = None
    default_gateway: str | None = None
    iface: str | None = None
    speed_mbps: int | None = None
    fec_mode: str | None = None
    mtu: int | None = None
    netdetect: str | None = None
    tls_enabled: bool | None = None
    tls_preconfigured: bool | None = None
    alarm_days: int | None = None
    pings: tuple[Ping, ...] = ()
    ports: tuple[Port, ...] = ()
    vnic_ip: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    status: str = "ok"


@dataclass(frozen=True)
class HccnDevice:
    """Addresses of one NPU in /etc/hccn.conf."""

    ip: str | None = None
    netmask: str | None = None
    gateway: str | None = None
    netdetect: str | None = None


@dataclass(frozen=True)
class HccnConf:
    """/etc/hccn.conf by device number; `unread` holds lines of another form (such as an elision)."""

    devices: dict[str, HccnDevice] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    status: str = "ok"


def parse_hccn_tool(text: str) -> Hccn | Trouble:
    """The answers of one or several hccn_tool commands."""
    text = clean(text)
    triples = list(pairs(lines(text)))
    fields = Fields.of(triples)
    links = _all(triples, "link status", "vnic link status")
    ips = _all(triples, "ipaddr", "vnic ipaddr", "ip address")
    healths = _all(triples, "net health status")
    gateway, iface = _route(text)
    ports, vnic_ip = _tables(text)
    answer = Hccn(
        dev_id=_device(text),
        link=_same(links),
        links=links,
        net_health=_same(healths),
        net_healths=healths,
        healthy=_healthy(healths),
        ip=_same(ips),
        ips=ips,
        netmask=fields.words("netmask", "vnic netmask"),
        default_gateway=gateway,
        iface=iface or _first(_IFACE, text),
        speed_mbps=whole(_first(_SPEED, fields.words("Speed"))),
        fec_mode=fields.words("fec mode"),
        mtu=whole(fields.words("mtu")),
        netdetect=fields.words("netdetect address"),
        tls_enabled=_flag(_TLS, text),
        tls_preconfigured=_flag(_PRESET, text),
        alarm_days=whole(_first(_ALARM, text)),
        pings=_pings(text),
        ports=ports,
        vnic_ip=vnic_ip,
    )
    said = [value for name, value in vars(answer).items() if name not in ("dev_id", "values", "status")]
    if any(value not in (None, ()) for value in said):
        return answer
    other = {match.group(1): match.group(2) for row in lines(text) if (match := _VALUE.match(row))}
    return replace(answer, values=other) if other and not find_trouble(text) else trouble_in(text)


def _first(pattern: re.Pattern[str], text: str | None) -> str | None:
    match = pattern.search(text or "")
    return match.group(1) if match else None


def _flag(pattern: re.Pattern[str], text: str) -> bool | None:
    digit = _first(pattern, text)
    return {"0": False, "1": True}.get(digit or "")


def _device(text: str) -> int | None:
    """The device the text names, unless it names several."""
    commands = set(_COMMAND.findall(text))
    named = commands or {match.group(1) for match in _DEVICE.finditer(text)}
    return int(named.pop()) if len(named) == 1 else None


def _all(triples: list[tuple[str, str, str]], *labels: str) -> tuple[str, ...]:
    keys = {key_of(label) for label in labels}
    return tuple(value for key, value, _ in triples if key in keys and not absent(value))


def _same(words: tuple[str, ...]) -> str | None:
    return words[0] if len(set(words)) == 1 else None


def _healthy(words: tuple[str, ...]) -> bool | None:
    known = [word.lower() in ("success", "ok", "normal") for word in words if word.lower() != "init"]
    return all(known) if known else None


def _route(text: str) -> tuple[str | None, str | None]:
    for row in lines(text):
        if match := _DEFAULT_ROUTE.match(row) or _GATEWAY.search(row):
            return match.group(1), match.group(2)
    return None, None


def _pings(text: str) -> tuple[Ping, ...]:
    pings: list[Ping] = []
    for row in lines(text):
        if start := _PING.match(row.strip()):
            pings.append(Ping(int(start.group(1))))
        elif (done := _PACKETS.search(row)) and pings and pings[-1].sent is None:
            pings[-1] = Ping(pings[-1].device, int(done.group(1)), int(done.group(2)), float(done.group(3)))
    return tuple(pings)


def _tables(text: str) -> tuple[tuple[Port, ...], str | None]:
    """Ports and the address of the virtual interface in the tables of a 950."""
    ports: list[Port] = []
    vnic: str | None = None
    header: list[str] = []
    for row in read_table(text):
        if not isinstance(row, Row):
            continue
        keys = [key_of(cell) for cell in row.cells]
        if {"udieid", "interfacename", "eidindex"} & set(keys):
            header = keys
            continue
        cells = {key: row.usable(index) for index, key in enumerate(header)}
        if "udieid" in header and (whole(cells["udieid"]) is not None):
            ports.append(_port(cells))
        name, address = cells.get("interfacename", ""), cells.get("ipaddress", "")
        if vnic is None and _VNIC.fullmatch(name) and _IPV4.fullmatch(address):
            vnic = address
    return tuple(ports), vnic


def _port(cells: dict[str, str]) -> Port:
    kind, link = cells.get("porttype"), cells.get("linkstatus")
    return Port(
        die=whole(cells.get("udieid")),
        port=whole(cells.get("portid")),
        speed_gbps=number(cells.get("speedability(gbps)")),
        type=None if absent(kind) else kind,
        link=None if absent(link) else link,
    )


def parse_hccn_conf(text: str) -> HccnConf | Trouble:
    """Addresses by device; keys the console does not use are passed over."""
    found: dict[str, dict[str, str]] = {}
    unread: list[str] = []
    for row in clean(text).split("\n"):
        if match := _CONF.match(row):
            name = {"address": "ip"}.get(match.group(1).lower(), match.group(1).lower())
            found.setdefault(match.group(2), {}).setdefault(name, match.group(3).strip())
        elif row.strip() and not row.strip().startswith("#") and not is_prompt(row):
            unread.append(row.strip())
    if not found:
        return trouble_in(text)
    names = HccnDevice.__dataclass_fields__
    devices = {
        device: HccnDevice(**{name: value for name, value in values.items() if name in names})
        for device, values in found.items()
    }
    return HccnConf(devices, tuple(unread))
