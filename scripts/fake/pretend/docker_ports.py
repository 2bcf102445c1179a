"""Published ports of simulated containers: who has which, and at which address an engine in a container is heard.

Containers share the host's network here. An engine therefore listens where its port is published, and where the real
one could not be reached from outside its container, it listens at an address that nobody asks.
"""

from __future__ import annotations

import errno
import re
import socket

from pretend import boxes, place
from pretend.docker_words import Refused

NOWHERE = "127.77.0.1"
ANY = ("", "0.0.0.0", "::", "[::]")


def published(word: str) -> tuple[str, int]:
    """Address and port of what `--publish` takes. Refused when it is wrong, or more than is simulated."""
    found = re.fullmatch(
        r"(?:(?P<ip>\[[^\]]*\]|[^:]*):)?(?:(?P<host>[\d-]*):)?(?P<inside>[\d-]+)(?:/(?:tcp|udp|sctp))?", word
    )
    if found is None or (found["ip"] and found["host"] is None and not found["ip"].isdigit()):
        raise Refused(f"docker: invalid containerPort: {word.rpartition(':')[2]}.\nSee 'docker run --help'.", 125)
    ip, host, inside = found["ip"] or "", found["host"] or "", found["inside"]
    if found["host"] is None and ip.isdigit():
        ip, host = "", ip
    if not host or host != inside or not host.isdigit():
        raise Refused(f"docker: {word}: a rehearsal host publishes a port under its own number only.", 125)
    if not 0 < int(host) < 65536:
        raise Refused(f"docker: invalid hostPort: {host}.\nSee 'docker run --help'.", 125)
    return ip.strip("[]"), int(host)


def take(box: place.Data) -> None:
    """Refused, as the engine says it, when somebody has one of its ports."""
    end = f"{box['name']} ({box['id']})"
    begun = f"docker: Error response from daemon: driver failed programming external connectivity on endpoint {end}: "
    for ip, port in box.get("publish", []):
        shown = f"{ip or '0.0.0.0'}:{port}"
        for other in boxes.all_boxes():
            if other["pid"] and any(port == theirs and _meet(ip, at) for at, theirs in other.get("publish", [])):
                raise Refused(f"{begun}Bind for {shown} failed: port is already allocated.", 125)
        if _in_use(ip, port):
            said = f"Error starting userland proxy: listen tcp4 {shown}: bind: address already in use."
            raise Refused(begun + said, 125)


def address(wished: str, port: str, told: str | None) -> str:
    """Where an engine listens that was asked to listen at `wished` inside a container; `told` is its variable."""
    if told is None:
        return wished
    at = dict(one.partition("=")[::2] for one in told.split(",") if one)
    return at.get(port, NOWHERE) if wished in ANY else NOWHERE


def _meet(one: str, other: str) -> bool:
    return one == other or one in ANY or other in ANY


def _in_use(ip: str, port: int) -> bool:
    kind = socket.AF_INET6 if ":" in ip else socket.AF_INET
    with socket.socket(kind) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((ip, port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False
