"""What `pilot check`, `pilot compare` and `pilot waive` do."""

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.errors import ConsoleError, InvalidInput, NotFound
from console.settings import actor
from console.terminal import FAILED, OK, UNREACHABLE, WRONG_INPUT, language, t, words
from console.terminal_table import draw, table_of
from console.text import Text, say

if TYPE_CHECKING:
    from console.checks import Judged
    from console.checks.difference import Difference
    from console.hosts.compared import Changes
    from console.hosts.inventory import Host
    from console.hosts.observe import Checked


def check(chosen: argparse.Namespace) -> int:
    """Probe the hosts side by side and judge each; 0 pass or warning, 1 a check failed, 3 a host was not reached.

    A failing check that is waived does not count. With --only one check is asked for and shown.
    """
    from console.hosts import inventory, observe, own_profiles
    from console.hosts.exported import FORMS

    inventory.this_machine()
    try:
        wished = own_profiles.find(chosen.profile).id if chosen.profile else None
        hosts = [inventory.named(name) for name in dict.fromkeys(chosen.host)]
        for host in hosts:
            observe.facts_of(host, wished, chosen.only or None)
            if chosen.only and observe.latest(host) is None:
                raise InvalidInput(say("{host} has not been checked yet. Check it first.", host=host.title))
        if chosen.export and _form(chosen.export) not in FORMS:
            raise InvalidInput(say("Name a file that ends in {forms}.", forms=", ".join(f".{one}" for one in FORMS)))
    except (NotFound, InvalidInput) as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    codes, plain, checked = [OK], dict[str, dict[str, Any]](), dict[str, "Checked"]()
    for host, trouble in observe.probe_all(hosts, actor=actor(), profile=wished, check=chosen.only or None):
        wanted = wished or observe.profiles_of(host)[0]
        found = None if trouble is not None else observe.judged(host, wanted)
        if found is not None:
            checked[host.name] = found
        plain[host.name] = _report(host, wanted, found, trouble, chosen)
        codes.append(UNREACHABLE if found is None else _code(_named(found.judged, chosen.only)))
        if not chosen.json:
            _show(host, found, trouble, chosen, named=len(hosts) > 1 or host.scenario is not None)
    if chosen.json:
        reports = [plain[host.name] for host in hosts]
        print(json.dumps(reports[0] if len(reports) == 1 else {"hosts": reports}, ensure_ascii=False, indent=2))
    if chosen.export and checked:
        _export(chosen.export, [(host, checked[host.name]) for host in hosts if host.name in checked])
    return max(codes)


def compare(chosen: argparse.Namespace) -> int:
    """What differs between two hosts, by what they said last; 0 alike, 1 something differs."""
    from console.checks.difference import Kind
    from console.hosts import inventory, own_profiles
    from console.hosts.compared import compare as compared

    inventory.this_machine()
    try:
        profile = own_profiles.find(chosen.profile).id if chosen.profile else None
        hosts = [inventory.named(name) for name in (chosen.left, chosen.right)]
        found = compared(hosts[0], hosts[1], profile)
    except NotFound as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    checks = [one for one in found.checks if chosen.all or one.kind != Kind.SAME]
    facts = [one for one in found.facts if chosen.all or not one.is_same]
    differ = any(one.kind != Kind.SAME for one in found.checks) or not all(one.is_same for one in found.facts)
    if chosen.json:
        plain = {
            "hosts": [host.name for host in hosts],
            "asked": [found.left.time, found.right.time],
            "profiles": [found.left.profile.id, found.right.profile.id],
            "checks": [_plain_difference(one, ("left", "right")) for one in checks],
            "facts": [
                {"name": one.name, "same": one.is_same, "left": _or_none(one.left), "right": _or_none(one.right)}
                for one in facts
            ],
        }
        print(json.dumps(plain, ensure_ascii=False, indent=2))
        return FAILED if differ else OK
    table = table_of("", *(words(host.label) for host in hosts))
    for one in checks:
        table.add_row(words(one.either.title), *(_cell(side) for side in (one.was, one.now)))
    for fact in facts:
        table.add_row(words(fact.title), *(words(side) or "–" for side in (fact.left, fact.right)))
    if checks or facts:
        draw(table)
    else:
        print(t("Nothing differs."))
    return FAILED if differ else OK


def waive(chosen: argparse.Namespace) -> int:
    """Waive a check of a host with a reason and a name, or end that."""
    from console.checks import CHECKS
    from console.hosts import inventory, waiving

    inventory.this_machine()
    try:
        host = inventory.named(chosen.host)
        if chosen.end:
            waiving.end(host, chosen.check, actor=actor())
        else:
            profile = chosen.profile or None
            waiving.waive(host, chosen.check, reason=chosen.reason, name=chosen.name, actor=actor(), profile=profile)
    except (NotFound, InvalidInput) as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    plain = {"host": host.name, "check": chosen.check, "waived": not chosen.end}
    title = CHECKS[chosen.check].title if chosen.check in CHECKS else chosen.check
    said = t("“{check}” counts again on {host}.", check=title, host=host.title)
    if not chosen.end:
        said = t("“{check}” is waived on {host}.", check=title, host=host.title)
    print(json.dumps(plain, ensure_ascii=False, indent=2) if chosen.json else said)
    return OK


def _form(name: str) -> str:
    return Path(name).suffix.lstrip(".").lower()


def _export(name: str, checked: Sequence[tuple["Host", "Checked"]]) -> None:
    from console.hosts import exported

    zone = datetime.now().astimezone().tzinfo
    assert zone is not None
    text = exported.document([exported.report(host, one, zone) for host, one in checked], _form(name), language())
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(say("{file} could not be written: {error}", file=name, error=str(error))) from error
    print(t("Written to {file}.", file=name), file=sys.stderr)


def _named(judged: Sequence["Judged"], only: str) -> list["Judged"]:
    return [one for one in judged if one.name == only or not only]


def _code(judged: Sequence["Judged"]) -> int:
    return FAILED if any(one.failed for one in judged) else OK


def _show(
    host: "Host", found: "Checked | None", error: ConsoleError | None, chosen: argparse.Namespace, *, named: bool
) -> None:
    from console.checks.report import STANDINGS, waiver_words

    if found is None:
        print(f"{words(host.label)}: {words(error.text) if error else ''}", file=sys.stderr)
        return
    if named:
        print(f"{words(host.label)}:")
    table = table_of()
    for one in _named(found.judged, chosen.only):
        verdict = one.verdict
        table.add_row(STANDINGS[one.standing][0], words(one.title), words(verdict.seen))
        if verdict.fix is not None and not one.passed:
            table.add_row("", "", f"→ {words(verdict.fix)}")
        if one.waiver is not None:
            table.add_row("", "", words(waiver_words(one, f"{datetime.fromtimestamp(one.waiver.made):%Y-%m-%d}")))
    draw(table)
    if chosen.changes:
        _show_changes(host, found)


def _show_changes(host: "Host", found: "Checked") -> None:
    changes = _changes(host, found)
    if changes is None:
        print(t("{host} was not checked before, so nothing can have changed.", host=host.title))
        return
    since = f"{datetime.fromtimestamp(changes.since):%Y-%m-%d %H:%M}"
    if not changes.found:
        print(t("Nothing has changed since {time}.", time=since))
        return
    print(t("Changed since {time}", time=since))
    table = table_of("", t("was"), t("is now"))
    for one in changes.found:
        table.add_row(words(one.either.title), _cell(one.was), _cell(one.now))
    draw(table)


def _changes(host: "Host", found: "Checked") -> "Changes | None":
    from console.hosts.compared import changes

    return changes(host, found)


def _cell(one: "Judged | None") -> str:
    from console.checks.report import STANDINGS

    return "–" if one is None else f"{STANDINGS[one.standing][0]} {words(one.verdict.seen)}"


def _report(
    host: "Host", profile: str, found: "Checked | None", error: ConsoleError | None, chosen: argparse.Namespace
) -> dict[str, Any]:
    """One host for JSON; sentences in English, whatever the terminal speaks."""
    from console.checks.report import plain
    from console.hosts import exported

    reached = {
        "simulated": host.scenario is not None,
        "reached": found is not None,
        "reason": None if error is None else str(error.text),
    }
    if found is None:
        return {"host": host.name, "profile": profile, **reached, "worst": None, "checks": []}
    report: dict[str, Any] = plain(exported.report(host, found)) | reached
    if chosen.only:
        report["checks"] = [
            one for one, judged in zip(report["checks"], found.judged, strict=True) if judged.name == chosen.only
        ]
    changes = _changes(host, found)
    report["changed_since"] = None if changes is None else changes.since
    report["changed"] = [] if changes is None else [_plain_difference(one, ("was", "now")) for one in changes.found]
    return report


def _plain_difference(one: "Difference", sides: tuple[str, str]) -> dict[str, Any]:
    values = {
        side: None if judged is None else {"level": judged.standing, "seen": str(judged.verdict.seen)}
        for side, judged in zip(sides, (one.was, one.now), strict=True)
    }
    return {"name": one.either.name, "title": str(one.either.title), "kind": str(one.kind), **values}


def _or_none(text: Text | None) -> str | None:
    return None if text is None else str(text)
