"""What `pilot hosts rehearse` does."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from console.errors import NotFound
from console.settings import actor
from console.terminal import OK, WRONG_INPUT, language, t, words

if TYPE_CHECKING:
    from console.hosts.inventory import Host


def rehearse(chosen: argparse.Namespace) -> int:
    """List the scenarios, start or stop a rehearsal host, or make one."""
    from console.hosts import inventory, rehearsal

    if chosen.list:
        return _list(as_json=chosen.json)
    if chosen.stop:
        host = inventory.named(chosen.stop)
        rehearsal.stop(host, actor=actor())
        return _say(host, "stopped", t("{name} is stopped.", name=host.label), chosen.json)
    if chosen.start:
        host = rehearsal.start(inventory.named(chosen.start), actor=actor())
        return _say(host, "up", t("{name} is up at {where}.", name=host.label, where=str(host.reach)), chosen.json)
    if not chosen.scenario:
        print(f"pilot: {t('Name a scenario; “pilot hosts rehearse --list” shows them.')}", file=sys.stderr)
        return WRONG_INPUT
    try:
        host = rehearsal.create(chosen.scenario, chosen.name, actor=actor())
    except NotFound as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    said = t(
        "{name} is up at {where}. Its SSH server is real, its cards are simulated. Try: pilot check {plain}",
        name=host.label,
        where=str(host.reach),
        plain=host.name,
    )
    return _say(host, "up", said, chosen.json)


def _list(*, as_json: bool) -> int:
    from console.catalog.scenarios import scenarios

    if as_json:
        plain = [{"id": one.id, "title": one.title_in("en"), "about": one.about_in("en")} for one in scenarios()]
        print(json.dumps({"scenarios": plain}, ensure_ascii=False, indent=2))
        return OK
    for one in scenarios():
        print(f"{one.id}\n    {one.title_in(language())}: {one.about_in(language())}")
    return OK


def _say(host: "Host", state: str, said: str, as_json: bool) -> int:
    if as_json:
        reach = None if host.reach is None else json.loads(host.reach.to_json())
        plain = {"name": host.name, "scenario": host.scenario, "simulated": True, "state": state, "reach": reach}
        print(json.dumps(plain, ensure_ascii=False, indent=2))
    else:
        print(said)
    return OK
