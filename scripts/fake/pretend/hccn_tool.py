"""`hccn_tool`: the network ports of the chips, their links, addresses and health."""

from __future__ import annotations

import sys

from pretend import cards, place, users

CONF = "/etc/hccn.conf"


def ports(played: place.Data) -> dict[str, place.Data]:
    """Port by device number: the scenario's, with what was set since."""
    kept = place.read("hccn")
    return {node: one | kept.get(node, {}) for node, one in played.get("ports", {}).items()}


def conf(played: place.Data) -> str:
    names = {"address": "address", "netmask": "netmask", "netdetect": "netdetect", "gateway": "gateway"}
    rows = []
    for node, one in ports(played).items():
        rows += [f"{name}_{node}={one[key]}" for key, name in names.items() if one.get(key)]
    return "".join(f"{row}\n" for row in rows)


def main(name: str, words: list[str]) -> int:
    played = place.scenario()
    if cards.trouble():
        print("drvMngGetConsoleLogLevel failed. The driver is not loaded.", file=sys.stderr)
        return 1
    if users.current().uid:
        print("Permission denied: hccn_tool has to be run as root.", file=sys.stderr)
        return 1
    if len(words) < 4 or words[0] != "-i":
        print("Usage: hccn_tool -i <devid> -<option> <-g|-s> [...]")
        return 1
    node, option, *rest = words[1:]
    port = ports(played).get(node)
    if port is None:
        print(f"The device {node} does not exist.")
        return 1
    if rest[:1] == ["-s"]:
        return _set(played, node, option, rest[1:])
    said = _answer(node, option, port, rest)
    print(said or f"This device does not support the option {option}.")
    return 0 if said else 1


def _answer(node: str, option: str, port: place.Data, rest: list[str]) -> str:
    up = port["link"] == "UP"
    answers = {
        "-link": f"link status: {port['link']}",
        "-net_health": f"net health status: {_health(port)}",
        "-ip": f"ipaddr:{port['address']}\nnetmask:{port['netmask']}"
        if port.get("address")
        else "No IP address is set.",
        "-tls": f"dev_id:{node}, tls switch[{port['tls']}](0:disable, 1:enable), tls preconfigured[1](0:non-preset, "
        "1:preset), tls alarm time threshold[60]days",
        "-netdetect": f"netdetect address: {port.get('netdetect') or 'not set'}",
        "-gateway": f"default gateway:{port.get('gateway', '')}, Iface:eth{node}",
        "-speed": f"Speed: {200000 if up else 0} Mb/s",
        "-mtu": "mtu:1500",
        "-fec": "fec mode: rs FEC mode",
        "-lldp": f"Ifname: 200GE1/0/{int(node) + 1}" if up else "No LLDP neighbour.",
        "-ping": _ping(node, up, rest),
    }
    return answers.get(option, "")


def _health(port: place.Data) -> str:
    if not port.get("netdetect"):
        return "Init"
    return "Success" if port["link"] == "UP" else "Fault"


def _ping(node: str, up: bool, rest: list[str]) -> str:
    target = rest[2] if len(rest) > 2 else ""
    replies = [f"recv seq={number},time=0.0{66 + number}000ms" for number in range(3)] if up else ["recv time out"] * 3
    summary = f"3 packets transmitted, {3 if up else 0} received, {0 if up else 100}.00% packet loss"
    return "\n".join([f"device {node} PING {target}", *replies, summary])


def _set(played: place.Data, node: str, option: str, words: list[str]) -> int:
    given = dict(zip(words[::2], words[1::2], strict=False))
    known = {"-ip": ("address", "netmask"), "-netdetect": ("address",), "-gateway": ("gateway",), "-tls": ("enable",)}
    if option not in known or not set(given) & set(known[option]):
        print(f"This device does not support setting {option}.")
        return 1
    changed = {"netdetect": given["address"]} if option == "-netdetect" else given
    if option == "-tls":
        changed = {"tls": int(given["enable"])}
    with place.changing("hccn") as kept:
        kept[node] = kept.get(node, {}) | changed
    place.put(CONF, conf(played))
    from pretend import answers

    answers.write()
    return 0
