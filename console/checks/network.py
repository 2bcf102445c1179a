"""Checks of the network of a host: time, proxies, names, firewall, speed."""

from collections.abc import Mapping
from shlex import quote

from console.catalog.profiles import Profile
from console.checks.check import Level, Verdict, check
from console.facts.nics import IbvDevinfo, Nics
from console.facts.surroundings import Guards, Resolvers, TimeSync
from console.text import say, verbatim

_OWN = ("127.0.0.1", "localhost")


@check(
    area="network",
    title=say("Time server"),
    why=say("Nodes whose clocks differ tell their logs in the wrong order; certificates seem invalid."),
)
def time_follows(time_sync: TimeSync) -> Verdict:
    wanted = say("The clock follows a time server")
    if time_sync.synchronized is None:
        fix = say("Look which service keeps the time; in a container it is the host's.")
        return Verdict(Level.UNKNOWN, say("Neither timedatectl nor chronyc answers"), wanted, fix, "timedatectl")
    off = abs(time_sync.offset_s or 0)
    if time_sync.synchronized and off < 1:
        return Verdict(Level.PASS, wanted, wanted)
    seen = say("The clock follows no time server")
    if time_sync.synchronized:
        seen = say("The clock follows a time server, but is {seconds} s off", seconds=off)
    fix = say("Let it follow a time server; without internet, one of your own network or another node.")
    return Verdict(Level.WARN, seen, wanted, fix, "sudo timedatectl set-ntp true")


@check(
    area="network",
    title=say("Proxies"),
    why=say("A request to the own machine that goes to a proxy never reaches the server: it seems down."),
)
def proxies_spare_own(proxies: Mapping[str, str]) -> Verdict:
    wanted = say("No proxy, or none for this machine (no_proxy)")
    own = [name for name in proxies if name != "no_proxy"]
    if not own:
        return Verdict(Level.PASS, say("None is set"), wanted)
    seen = verbatim("; ".join(f"{name}={value}" for name, value in proxies.items()))
    spared = proxies.get("no_proxy", "")
    if spared == "*" or all(name in spared.split(",") for name in _OWN):
        return Verdict(Level.PASS, seen, wanted)
    fix = say("Add this machine, and the addresses of the other nodes, to no_proxy.")
    return Verdict(
        Level.WARN, seen, wanted, fix, f"export no_proxy={quote(','.join([*filter(None, [spared]), *_OWN]))}"
    )


@check(
    area="network",
    title=say("Name servers"),
    why=say("Without one, nothing can be downloaded by name, and each attempt waits until it times out."),
)
def name_servers(resolvers: Resolvers | None) -> Verdict:
    wanted = say("At least one, unless the host has no internet")
    if resolvers and resolvers.servers:
        return Verdict(Level.PASS, verbatim(", ".join(resolvers.servers)), wanted)
    fix = say("Name one in /etc/resolv.conf; without internet, write the other nodes into /etc/hosts.")
    return Verdict(Level.WARN, say("None is set"), wanted, fix, "cat /etc/resolv.conf")


@check(
    area="network",
    title=say("Firewall"),
    why=say("Nodes open many ports to each other; a firewall between them lets the first exchange hang."),
)
def firewall_between_nodes(guards: Guards) -> Verdict:
    wanted = say("None between the nodes, or rules that let them reach each other")
    seen = say(
        "Active: {names}; SELinux: {mode}",
        names=verbatim(", ".join(guards.firewalls) or "-"),
        mode=verbatim(guards.selinux or "-"),
    )
    if not guards.firewalls:
        return Verdict(Level.PASS, seen, wanted)
    fix = say("Let the addresses of the other nodes through, for every port, or switch it off on a closed network.")
    command = (
        "sudo ufw allow from PEER"
        if "ufw" in guards.firewalls
        else "sudo firewall-cmd --zone=trusted --add-source=PEER"
    )
    return Verdict(Level.WARN, seen, wanted, fix, command)


@check(
    area="network",
    title=say("Network speed"),
    why=say("Weights are copied, and nodes exchange data, over this network."),
)
def network_speed(nics: Nics, profile: Profile) -> Verdict:
    wished = profile.number("network_gbps")
    wanted = say("{gbps} Gb/s or more", gbps=wished)
    up = [one for one in nics.nics if one.link and one.speed_mbps]
    evidence = tuple(f"{one.iface}: {(one.speed_mbps or 0) / 1000:g} Gb/s" for one in up)
    if not up:
        fix = say("Check cables and switch; in a virtual machine the speed is not known.")
        return Verdict(Level.UNKNOWN, say("No interface with a link tells its speed"), wanted, fix, "ip -br link")
    seen = verbatim(", ".join(evidence))
    if max(one.speed_mbps or 0 for one in up) >= wished * 1000:
        return Verdict(Level.PASS, seen, wanted, evidence=evidence)
    fix = say("It works, more slowly. Use the faster port, if the host has one, and a cable and switch that fit.")
    return Verdict(Level.WARN, seen, wanted, fix, evidence=evidence)


@check(
    area="network",
    title=say("RoCE"),
    why=say("RDMA over Ethernet spares the CPU when nodes exchange data or weights come over the network."),
)
def roce_ports(rdma: IbvDevinfo | None) -> Verdict:
    wanted = say("An RDMA port on Ethernet that is active")
    ports = [(card.name, port) for card in rdma.hcas for port in card.ports] if rdma else []
    evidence = tuple(f"{name} {port.port}: {port.state} {port.link_layer}" for name, port in ports)
    if any(port.state == "PORT_ACTIVE" and port.link_layer == "Ethernet" for _, port in ports):
        return Verdict(Level.PASS, verbatim(", ".join(evidence)), wanted, evidence=evidence)
    fix = say(
        "A single host serves without it. Otherwise install the driver of the network card and plug in the cable."
    )
    seen = verbatim(", ".join(evidence)) if evidence else say("The host shows no RDMA port")
    return Verdict(Level.WARN, seen, wanted, fix, "ibv_devinfo", evidence)
