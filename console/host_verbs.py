"""What `pilot hosts` and `pilot check` do."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from console.errors import ConsoleError, HostError, InvalidInput, NotFound, UnknownHostKey
from console.settings import actor
from console.terminal import FAILED, OK, UNREACHABLE, WRONG_INPUT, t, words
from console.text import Text

if TYPE_CHECKING:
    from rich.table import Table

    from console.checks import Judged
    from console.hosts.inventory import Host

MOST_KEYS = 8
MARKS = {"pass": "●", "warn": "▲", "fail": "■", "unknown": "?"}
WORST_FIRST = ("fail", "warn", "unknown")


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
    table = _table()
    for head in (t("host"), t("reached at"), t("tags"), t("asked about itself")):
        table.add_column(head)
    for host, said in seen:
        age = t("never") if said is None else t("{n} min ago", n=round((time.time() - said.time) / 60))
        table.add_row(host.name, _way(host), " ".join(host.tags), age)
    _draw(table)
    return OK


def key(chosen: argparse.Namespace) -> int:
    """The public half of the console's own pair."""
    from console.hosts.keys import public_line

    line = public_line()
    _print({"public_key": line}, line, as_json=chosen.json)
    return OK


def check(chosen: argparse.Namespace) -> int:
    """Probe the hosts side by side and judge each; 0 pass or warning, 1 a check failed, 3 a host was not reached."""
    from console.catalog.profiles import profile
    from console.hosts import inventory, observe

    inventory.this_machine()
    try:
        wished = profile(chosen.profile).id if chosen.profile else None
        hosts = [inventory.named(name) for name in dict.fromkeys(chosen.host)]
    except NotFound as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    codes, plain = [OK], {}
    for host, trouble in observe.probe_all(hosts, actor=actor(), profile=wished):
        wanted = wished or observe.profiles_of(host)[0]
        checked = None if trouble is not None else observe.judged(host, wanted)
        judged = [] if checked is None else checked.judged
        plain[host.name] = _report(host, wanted, judged, trouble)
        codes.append(UNREACHABLE if trouble is not None else _code(judged))
        if not chosen.json:
            _show(host, judged, trouble, named=len(hosts) > 1)
    if chosen.json:
        reports = [plain[host.name] for host in hosts]
        print(json.dumps(reports[0] if len(reports) == 1 else {"hosts": reports}, ensure_ascii=False, indent=2))
    return max(codes)


def _code(judged: Sequence["Judged"]) -> int:
    return FAILED if any(one.verdict.level == "fail" for one in judged) else OK


def _show(host: "Host", judged: Sequence["Judged"], error: ConsoleError | None, *, named: bool) -> None:
    if error is not None:
        print(f"{host.name}: {words(error.text)}", file=sys.stderr)
        return
    if named:
        print(f"{host.name}:")
    table = _table()
    table.show_header = False
    for one in judged:
        verdict = one.verdict
        table.add_row(MARKS[verdict.level], words(one.title), words(verdict.seen))
        if verdict.fix is not None and verdict.level != "pass":
            table.add_row("", "", f"→ {words(verdict.fix)}")
    _draw(table)


def _report(host: "Host", profile_id: str, judged: Sequence["Judged"], error: ConsoleError | None) -> dict[str, Any]:
    levels = {one.verdict.level for one in judged}
    worst = next((level for level in WORST_FIRST if level in levels), "pass")
    return {
        "host": host.name,
        "profile": profile_id,
        "reached": error is None,
        "reason": None if error is None else str(error.text),
        "worst": None if error is not None else worst,
        "checks": [
            {
                "name": one.name,
                "area": one.area,
                "title": str(one.title),
                "level": one.verdict.level,
                "seen": str(one.verdict.seen),
                "wanted": str(one.verdict.wanted),
                "why": str(one.why),
                "fix": None if one.verdict.fix is None else str(one.verdict.fix),
                "fix_command": one.verdict.fix_command,
            }
            for one in judged
        ],
    }


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
            name=host.name,
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
        print(t("{name} is in the inventory, but: {why}", name=host.name, why=why), file=sys.stderr)
    return UNREACHABLE


def _plain(host: "Host") -> dict[str, Any]:
    return {
        "name": host.name,
        "kind": host.kind,
        "reach": None if host.reach is None else json.loads(host.reach.to_json()),
        "tags": list(host.tags),
        "work_folder": host.work_folder,
    }


def _way(host: "Host") -> str:
    return "" if host.reach is None else " → ".join(str(hop) for hop in host.reach.hops)


def _print(plain: dict[str, Any], said: str, *, as_json: bool) -> None:
    print(json.dumps(plain, ensure_ascii=False, indent=2) if as_json else said)


def _table() -> "Table":
    from rich.table import Table

    return Table(box=None, pad_edge=False)


def _draw(table: "Table") -> None:
    from rich.console import Console

    Console(highlight=False, markup=False).print(table)
