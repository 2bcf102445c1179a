"""What `pilot cards`, `pilot commands`, `pilot hosts import`, `pilot hosts sudo` and `pilot hosts password` do."""

import argparse
import getpass
import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.errors import ConsoleError, InvalidInput, NotFound
from console.settings import actor
from console.terminal import FAILED, OK, WRONG_INPUT, t, words
from console.terminal_table import draw, piped_width, table_of
from console.text import Text, say

if TYPE_CHECKING:
    from console.hosts.commands import Command
    from console.hosts.importing import Change, Entry, Preview

Verb = Callable[[Any, str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]


def register(found: Any, hosts: Any, verb: Verb, as_json: Callable[[argparse.ArgumentParser], None]) -> None:
    """Put these verbs into the command line: `found` holds the verbs of `pilot`, `hosts` those of `pilot hosts`."""
    listed = verb(found, "cards", cards, t("Every card of every host, as its host said last, and who holds it."))
    listed.add_argument("host", nargs="*", metavar=t("HOST"), help=t("only of these hosts"))
    listed.add_argument("--csv", action="store_true", help=t("print CSV that Excel opens"))
    sent = verb(found, "commands", commands, t("Every command that was sent to a host: who, when, how it ended."))
    sent.add_argument("host", nargs="?", metavar=t("HOST"), help=t("only of this host"))
    sent.add_argument("--by", default=None, metavar=t("NAME"), help=t("only those of this person"))
    sent.add_argument("--limit", type=int, default=50, help=t("at most so many, the latest first (default 50)"))
    entered = verb(
        hosts, "import", import_hosts, t("Enter hosts from an ssh config or a CSV file; without --yes only show it.")
    )
    entered.add_argument("file", type=Path, metavar=t("FILE"), help=t("such as ~/.ssh/config or hosts.csv"))
    entered.add_argument("--from", dest="kind", choices=("ssh", "csv"), help=t("what kind of file it is"))
    entered.add_argument("--yes", action="store_true", help=t("do what is shown"))
    entered.add_argument(
        "--without", action="append", default=[], metavar=t("NAME"), help=t("leave this host out; repeat it for more")
    )
    root = verb(hosts, "sudo", sudo_password, t("Give the worker the password for sudo on a host; it is never stored."))
    root.add_argument("name", metavar=t("NAME"), help=t("name of the host"))
    root.add_argument("--forget", action="store_true", help=t("let the worker forget it"))
    login = verb(
        hosts, "password", login_password, t("Give the worker the password that logs in on a host; it is never stored.")
    )
    login.add_argument("name", metavar=t("NAME"), help=t("name of the host"))
    login.add_argument("--forget", action="store_true", help=t("let the worker forget it"))
    for one in (listed, sent, entered, root, login):
        as_json(one)


def cards(chosen: argparse.Namespace) -> int:
    """One row a card; a value that is not known is a dash with the reason below."""
    from console.hosts import card_columns, inventory
    from console.hosts.cards import cards as cards_of

    inventory.this_machine()
    try:
        hosts = [inventory.named(name) for name in dict.fromkeys(chosen.host)] or inventory.hosts()
    except NotFound as error:
        return _wrong(error)
    found, bare = cards_of(hosts)
    if chosen.csv:
        sys.stdout.buffer.write(card_columns.csv(found, words))
        return OK
    if chosen.json:
        without = [{"host": one.host.name, "observed": one.time, "why": str(one.why)} for one in bare]
        _print_json({"cards": [card_columns.plain(card) for card in found], "without": without})
        return OK
    reasons: list[str] = []
    table = table_of(t("host"), *(words(one.title) for one in card_columns.COLUMNS), t("seen"))
    for number, one in enumerate(card_columns.COLUMNS, start=1):
        table.columns[number].justify = "right" if one.right else "left"
    for card in found:
        cells = []
        for one in card_columns.COLUMNS:
            shown = one.shown(card)
            cells.append(words(shown) if shown else _noted(words(card.host.label), card.chip.why[one.field], reasons))
        table.add_row(words(card.host.label), *cells, _ago(card.time))
    if found:
        draw(table, width=piped_width())
    print("\n".join([*reasons, *(t("{host}: {why}", host=one.host.label, why=one.why) for one in bare)]))
    return OK


def commands(chosen: argparse.Namespace) -> int:
    """The latest first."""
    from console.hosts import inventory
    from console.hosts.commands import commands as sent

    try:
        host_id = inventory.named(chosen.host).id if chosen.host else None
    except NotFound as error:
        return _wrong(error)
    rows = sent(host_id=host_id, actor=chosen.by, limit=max(1, chosen.limit))
    names = {one.host_id: inventory.host(one.host_id).name.partition("#")[0] for one in rows}
    if chosen.json:
        _print_json({"commands": [_plain_command(one, names[one.host_id]) for one in rows]})
        return OK
    table = table_of(t("when (UTC)"), t("host"), t("who"), t("times"), t("took"), t("end"), t("command"))
    for number in (3, 4, 5):
        table.columns[number].justify = "right"
    for one in rows:
        end = str(one.code) if one.error is None else words(one.error)
        when = datetime.fromtimestamp(one.last, UTC).strftime("%Y-%m-%d %H:%M:%S")
        first = one.script.partition("\n")[0][:100]
        table.add_row(when, names[one.host_id], one.actor, str(one.times), f"{one.seconds:.2f} s", end, first)
    if rows:
        draw(table, width=piped_width())
    if not rows:
        print(t("No command was sent yet."))
    return OK


def import_hosts(chosen: argparse.Namespace) -> int:
    """Show what would be created, changed, left alone and refused; with --yes do it. 1 when something is refused."""
    from console.hosts import import_source, importing

    try:
        read = import_source.read(chosen.file, chosen.kind and import_source.Kind(chosen.kind))
    except InvalidInput as error:
        return _wrong(error)
    planned = importing.preview(read, chosen.without)
    if chosen.yes:
        importing.enter(planned, actor=actor())
    if chosen.json:
        _print_json(
            {
                "written": chosen.yes,
                "hosts": [_plain_entry(one) for one in planned.entries],
                "remarks": [str(one) for one in planned.remarks],
            }
        )
    else:
        _show(planned, written=chosen.yes)
    return FAILED if planned.counts[importing.What.REFUSED] else OK


def sudo_password(chosen: argparse.Namespace) -> int:
    """Ask for the password on the terminal, or take it from standard input; try it, then hand it over."""
    from console.hosts import inventory, secrets, sudo
    from console.hosts.keys import Password

    host = inventory.named(chosen.name)
    if chosen.forget:
        secrets.forget(host.id)
    else:
        if host.reach is None:
            raise InvalidInput(say("On this machine the console uses no sudo."))
        asked = t("Password for sudo of {user} on {host}: ", user=host.reach.user, host=host.name)
        password = Password(_typed(asked))
        sudo.check(inventory.runner(host), host.reach, password)
        secrets.give(host.id, password)
    return _told(host.name, chosen)


def login_password(chosen: argparse.Namespace) -> int:
    """Log in with the password, then hand it over; the same from a terminal and from standard input."""
    from console.hosts import inventory, secrets, trial
    from console.hosts.keys import Password

    host = inventory.named(chosen.name)
    if host.reach is None:
        raise InvalidInput(say("This machine is reached without SSH."))
    if chosen.forget:
        secrets.forget_login(host.reach)
    else:
        asked = t("Password of {user} on {host}: ", user=host.reach.user, host=host.name)
        trial.keep_password(host, Password(_typed(asked)))
    return _told(host.name, chosen)


def _told(host: str, chosen: argparse.Namespace) -> int:
    """Whether the worker knows a password now."""
    if chosen.json:
        _print_json({"host": host, "known": not chosen.forget})
    else:
        print(t("The worker has forgotten it.") if chosen.forget else t("The worker knows it until it ends."))
    return OK


def _typed(asked: str) -> str:
    """A secret from the terminal, unseen, or else the first line of standard input."""
    return getpass.getpass(asked) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


def _show(planned: "Preview", *, written: bool) -> None:
    from console.hosts.import_words import counted, of_change, of_what

    table = table_of(t("line"), t("name"), "", t("what"))
    for one in planned.entries:
        told = [words(of_change(change)) for change in one.changes] if one.why is None else [words(one.why)]
        table.add_row(one.place, one.name, words(of_what(one.what)), "\n".join([*told, *map(words, one.remarks)]))
    if planned.entries:
        draw(table, width=piped_width())
    print("\n".join([*map(words, planned.remarks), words(counted(planned))]))
    if not written and planned.writes:
        print(t("Nothing was written. Say --yes to do this."))


def _plain_entry(one: "Entry") -> dict[str, object]:
    return {
        "line": one.place,
        "name": one.name,
        "what": str(one.what),
        "why": None if one.why is None else str(one.why),
        "changes": [_plain_change(change) for change in one.changes],
        "remarks": [str(remark) for remark in one.remarks],
    }


def _plain_change(one: "Change") -> dict[str, object]:
    old, new = (None if value is None else str(value) for value in (one.old, one.new))
    return {"field": str(one.title), "old": old, "new": new}


def _plain_command(one: "Command", host: str) -> dict[str, object]:
    return {
        "host": host,
        "where": one.where,
        "who": one.actor,
        "script": one.script,
        "times": one.times,
        "first": one.first,
        "last": one.last,
        "exit_code": one.code,
        "error": None if one.error is None else str(one.error),
        "longest_s": one.seconds,
    }


def _noted(host: str, why: Text, reasons: list[str]) -> str:
    """A dash with the number of its reason, which is listed below the table."""
    sentence = words(say("{host}: {why}", host=host, why=why))
    number = next((n for n, one in enumerate(reasons, start=1) if one.endswith(f") {sentence}")), None)
    if number is None:
        number = len(reasons) + 1
        reasons.append(f"({number}) {sentence}")
    return f"– ({number})"


def _ago(moment: float) -> str:
    return t("{n} min ago", n=round((time.time() - moment) / 60))


def _wrong(error: ConsoleError) -> int:
    print(f"pilot: {words(error.text)}", file=sys.stderr)
    return WRONG_INPUT


def _print_json(plain: dict[str, Any]) -> None:
    print(json.dumps(plain, ensure_ascii=False, indent=2))
