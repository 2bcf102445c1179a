"""Checks of the network ports of NPUs, which several nodes need."""

from collections import Counter

from console.checks.check import Level, Verdict, check
from console.facts.cards import Ports
from console.facts.hccn import HccnConf
from console.text import Text, say, verbatim


def _silent(wanted: Text) -> Verdict:
    fix = say("Repair the driver first; hccn_tool comes with it and needs root.")
    return Verdict(Level.UNKNOWN, say("hccn_tool gives no answer"), wanted, fix)


def _unanswered(npu_ports: Ports) -> list[str]:
    return [f"NPU {card}: {trouble.line or trouble.error_kind}" for card, trouble in npu_ports.troubles.items()]


@check(
    area="links",
    title=say("Links of the NPU ports"),
    why=say("Nodes exchange tensors over these ports; one that is down lets all nodes wait until they time out."),
)
def npu_links(npu_ports: Ports | None) -> Verdict:
    wanted = say("UP on every port")
    if npu_ports is None or not npu_ports.ports:
        return _silent(wanted)
    states = {card: port.link or "?" for card, port in npu_ports.ports.items()}
    down = [card for card, state in states.items() if state.upper() != "UP"]
    shown = (*(f"NPU {card}: {states[card]}" for card in down), *_unanswered(npu_ports))
    if not shown:
        return Verdict(Level.PASS, say("UP on {count} ports", count=len(states)), wanted)
    fix = say("Check cable, optical module and switch port. A single host serves without these links.")
    number = next(iter([*down, *npu_ports.troubles]))
    return Verdict(Level.FAIL, verbatim(", ".join(shown)), wanted, fix, f"hccn_tool -i {number} -link -g", shown)


@check(
    area="links",
    title=say("Addresses of the NPU ports"),
    why=say("Each port needs an address of its own, or no other node finds it."),
)
def npu_addresses(npu_ports: Ports | None, hccn_conf: HccnConf | None = None) -> Verdict:
    wanted = say("An address for every port, no two alike, kept in /etc/hccn.conf")
    if npu_ports is None or not npu_ports.ports:
        return _silent(wanted)
    addresses = {card: port.ip or port.vnic_ip for card, port in npu_ports.ports.items()}
    evidence = (*(f"NPU {card}: {address or '-'}" for card, address in addresses.items()), *_unanswered(npu_ports))
    seen = verbatim(", ".join(evidence))
    missing = [card for card, address in addresses.items() if not address] + list(npu_ports.troubles)
    if missing:
        fix = say("Give each port an address in the network of the NPUs, and the same netmask on all nodes.")
        command = f"sudo hccn_tool -i {missing[0]} -ip -s address ADDRESS netmask NETMASK"
        return Verdict(Level.FAIL, seen, wanted, fix, command, evidence)
    twice = [address for address, count in Counter(addresses.values()).items() if count > 1]
    if twice:
        fix = say("Two ports have the address {address}. Give one of them another.", address=str(twice[0]))
        return Verdict(Level.FAIL, seen, wanted, fix, "cat /etc/hccn.conf", evidence)
    kept = hccn_conf.devices if hccn_conf else {}
    lost = [card for card in addresses if str(card) not in kept]
    if lost and not (hccn_conf and hccn_conf.unread):
        fix = say("Set them with hccn_tool, which writes /etc/hccn.conf: others are gone after a restart.")
        return Verdict(Level.WARN, seen, wanted, fix, "cat /etc/hccn.conf", evidence)
    return Verdict(Level.PASS, seen, wanted, evidence=evidence)


@check(
    area="links",
    title=say("Health of the NPU network"),
    why=say("Each port tries to reach one address; if it fails, cable and link are fine but the way is not."),
)
def npu_net_health(npu_ports: Ports | None) -> Verdict:
    wanted = say("Success on every port")
    if npu_ports is None or not npu_ports.ports:
        return _silent(wanted)
    states = {card: port.net_health or "?" for card, port in npu_ports.ports.items()}
    bad = [card for card, port in npu_ports.ports.items() if port.healthy is False]
    unset = [card for card, port in npu_ports.ports.items() if port.healthy is None]
    if not bad and not unset and not npu_ports.troubles:
        return Verdict(Level.PASS, say("Success on {count} ports", count=len(states)), wanted)
    evidence = (*(f"NPU {card}: {states[card]}" for card in (*bad, *unset)), *_unanswered(npu_ports))
    if bad:
        fix = say("Check gateway, VLAN and routes of the switch, and whether the address to be reached exists.")
        command = f"hccn_tool -i {bad[0]} -netdetect -g"
        return Verdict(Level.FAIL, verbatim(", ".join(evidence)), wanted, fix, command, evidence)
    fix = say("Name an address to be reached, such as the gateway; without one the port cannot test its way.")
    command = f"sudo hccn_tool -i {next(iter([*unset, *npu_ports.troubles]))} -netdetect -s address GATEWAY"
    return Verdict(Level.WARN, verbatim(", ".join(evidence)), wanted, fix, command, evidence)


@check(
    area="links",
    title=say("TLS of the NPU ports"),
    why=say("Ports with TLS do not speak to ports without it; the nodes then wait until they time out."),
)
def npu_tls(npu_ports: Ports | None) -> Verdict:
    wanted = say("The same switch on all ports of all nodes")
    if npu_ports is None or not npu_ports.ports:
        return _silent(wanted)
    switches = {card: port.tls_enabled for card, port in npu_ports.ports.items()}
    known = {switch for switch in switches.values() if switch is not None}
    evidence = tuple(f"NPU {card}: TLS {_NAMES[switch]}" for card, switch in switches.items())
    if not known or None in switches.values() or npu_ports.troubles:
        fix = say("Check again as root.")
        return Verdict(Level.UNKNOWN, say("Not every port tells its switch"), wanted, fix, evidence=evidence)
    if len(known) > 1:
        fix = say("Set the same switch everywhere: 0 for off, 1 for on.")
        command = "for i in 0 1; do sudo hccn_tool -i $i -tls -s enable 0; done"
        return Verdict(Level.FAIL, verbatim(", ".join(evidence)), wanted, fix, command, evidence)
    seen = say("TLS is on at all ports of this node") if True in known else say("TLS is off at all ports of this node")
    return Verdict(Level.PASS, seen, wanted, evidence=evidence)


_NAMES = {True: "1", False: "0", None: "?"}
