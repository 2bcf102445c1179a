"""What `pilot hosts` does."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from console.errors import HostError, InvalidInput, UnknownHostKey
from console.settings import actor
from console.terminal import FAILED, OK, UNREACHABLE, WRONG_INPUT, t, words
from console.terminal_table import draw, table_of
from console.text import Text

if TYPE_CHECKING:
    from console.hosts.inventory import Host

MOST_KEYS = 8


def add(chosen: argparse.Namespace) -> int:
    """Enter a host, or take the one that is entered in just this way, and try it."""
    from console.hosts import inventory
    from console.hosts.reach import Reach, Sudo, jumps, key_path

    try:
        reach = Reach(
            chosen.address,
            chosen.port,
            chosen.user,
            key_path(chosen.key),
            not chosen.no_agent,
            jumps(chosen.jump, chosen.user),
            Sudo(chosen.sudo),
        )
        host = next((one for one in inventory.hosts() if one.name == chosen.name and one.reach == reach), None)
        if host is None:
            host = inventory.add_host(chosen.name, reach, tags=chosen.tag, work_folder=chosen.folder, actor=actor())
    except InvalidInput as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    return _try(host, chosen.accept_key, as_json=chosen.json)


def test(chosen: argparse.Namespace) -> int:
    """Log in on a host that is in the inventory."""
    from console.hosts import inventory

    return _try(inventory.named(chosen.name), chosen.accept_key, as_json=chosen.json)


def remove(chosen: argparse.Namespace) -> int:
    """Forget a host."""
    from console.hosts import inventory

    inventory.remove_host(inventory.named(chosen.name).id, actor=actor())
    _print({"removed": chosen.name}, t("{name} was removed.", name=chosen.name), as_json=chosen.json)
    return OK


def listed(chosen: argparse.Namespace) -> int:
    """Every host with the age of what it said last."""
    from console.hosts import inventory, observe

    inventory.this_machine()
    seen = [(host, observe.latest(host)) for host in inventory.hosts()]
    if chosen.json:
        plain = [{**_plain(host), "observed": None if said is None else said.time} for host, said in seen]
        print(json.dumps({"hosts": plain}, ensure_ascii=False, indent=2))
        return OK
    table = table_of(t("host"), t("reached at"), t("tags"), t("asked about itself"))
    for host, said in seen:
        age = t("never") if said is None else t("{n} min ago", n=round((time.time() - said.time) / 60))
        table.add_row(words(host.label), _way(host), " ".join(host.tags), age)
    draw(table)
    return OK


def key(chosen: argparse.Namespace) -> int:
    """The public half of the console's own pair."""
    from console.hosts.keys import public_line

    line = public_line()
    _print({"public_key": line}, line, as_json=chosen.json)
    return OK


def _try(host: "Host", accepted: Sequence[str], *, as_json: bool) -> int:
    """Log in, accepting the host keys that were named; what is wrong goes to standard error."""
    from console.hosts import known_hosts
    from console.hosts.trial import try_host

    for _ in range(MOST_KEYS):
        try:
            tried = try_host(host)
        except UnknownHostKey as error:
            if error.key.fingerprint in accepted:
                known_hosts.accept(error.key)
                continue
            return _unreached(host, error.text, error.key.fingerprint, as_json=as_json)
        except HostError as error:
            return _unreached(host, error.text, None, as_json=as_json)
        remarks = [words(one) for one in tried.remarks]
        said = t(
            "{name} answers: {login} ms to log in, {command} ms for a command.",
            name=host.label,
            login=round(tried.login_s * 1000),
            command=round(tried.command_s * 1000),
        )
        plain = {"reached": True, "login_s": tried.login_s, "command_s": tried.command_s, "remarks": remarks}
        _print(_plain(host) | plain, "\n".join([said, *remarks]), as_json=as_json)
        return OK
    return FAILED


def _unreached(host: "Host", why: Text, fingerprint: str | None, *, as_json: bool) -> int:
    if as_json:
        plain = {"reached": False, "reason": str(why), "unknown_key": fingerprint}
        print(json.dumps(_plain(host) | plain, ensure_ascii=False, indent=2))
    else:
        print(t("{name} is in the inventory, but: {why}", name=host.label, why=why), file=sys.stderr)
    return UNREACHABLE


def _plain(host: "Host") -> dict[str, Any]:
    return {
        "name": host.name,
        "kind": host.kind,
        "reach": None if host.reach is None else json.loads(host.reach.to_json()),
        "tags": list(host.tags),
        "work_folder": host.work_folder,
        "simulated": host.scenario is not None,
        "scenario": host.scenario,
    }


def _way(host: "Host") -> str:
    return "" if host.reach is None else " → ".join(str(hop) for hop in host.reach.hops)


def _print(plain: dict[str, Any], said: str, *, as_json: bool) -> None:
    print(json.dumps(plain, ensure_ascii=False, indent=2) if as_json else said)
