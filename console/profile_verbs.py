"""What `pilot profiles` does: list, show, copy, change and remove what hosts are compared with."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from console.errors import Conflict, InvalidInput, NotFound
from console.settings import actor
from console.terminal import OK, WRONG_INPUT, language, t, words
from console.terminal_table import draw, table_of
from console.text import say, verbatim

if TYPE_CHECKING:
    from console.catalog.profiles import Profile


def refusing(verb: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """The verb, which ends with WRONG_INPUT and the sentence when what was typed cannot be."""

    def run(chosen: argparse.Namespace) -> int:
        try:
            return verb(chosen)
        except (InvalidInput, NotFound, Conflict) as error:
            print(f"pilot: {words(error.text)}", file=sys.stderr)
            return WRONG_INPUT

    return run


@refusing
def listed(chosen: argparse.Namespace) -> int:
    """Every profile, the built-in ones first."""

    from console.hosts import own_profiles

    found = list(own_profiles.profiles().values())
    if chosen.json:
        plain = [
            {"id": one.id, "title": one.title_in("en"), "own": bool(one.based_on), "based_on": one.based_on or None}
            for one in found
        ]
        print(json.dumps({"profiles": plain}, ensure_ascii=False, indent=2))
        return OK
    table = table_of(t("profile"), t("name"), t("kind"), t("checks"))
    for one in found:
        kind = t("own, from {profile}", profile=one.based_on) if one.based_on else t("built-in")
        table.add_row(one.id, one.title_in(language()), kind, str(len(one.checks)))
    draw(table)
    return OK


@refusing
def show(chosen: argparse.Namespace) -> int:
    """The checks and limits of one profile, with where each limit comes from."""
    from console.hosts import own_profiles

    _print(own_profiles.find(chosen.profile), as_json=chosen.json)
    return OK


@refusing
def copy(chosen: argparse.Namespace) -> int:
    """Make a profile of one's own from another one."""
    from console.hosts import own_profiles

    made = own_profiles.copy(chosen.profile, chosen.name, actor=actor())
    if chosen.json:
        _print(made, as_json=True)
    else:
        print(t("{id} was made. Change it with: pilot profiles set {id} …", id=made.id))
    return OK


@refusing
def change(chosen: argparse.Namespace) -> int:
    """Set limits, the name or the checks of a profile of one's own."""
    from console.hosts import own_profiles

    one = own_profiles.find(chosen.profile)
    checks = [name for name in one.checks if name not in chosen.without_check] + chosen.check
    changed = own_profiles.change(
        one.id,
        actor=actor(),
        title=chosen.name or None,
        checks=checks if chosen.check or chosen.without_check else None,
        limits=_limits(one, chosen.limit),
    )
    _print(changed, as_json=chosen.json)
    return OK


@refusing
def remove(chosen: argparse.Namespace) -> int:
    """Forget a profile of one's own."""
    from console.hosts import own_profiles

    own_profiles.remove(chosen.profile, actor=actor())
    said = t("{name} was removed.", name=chosen.profile)
    print(json.dumps({"removed": chosen.profile}, ensure_ascii=False, indent=2) if chosen.json else said)
    return OK


def _limits(one: "Profile", given: Sequence[str]) -> dict[str, object]:
    """Words such as `cores=32` or `sysctls:vm/swappiness=5`, by name of the limit."""
    found: dict[str, object] = {}
    for word in given:
        place, equals, value = word.partition("=")
        name, colon, entry = place.partition(":")
        if not equals:
            raise InvalidInput(say("Write limits as name=value, not as {word}.", word=verbatim(word)))
        if not colon:
            found[name] = value
            continue
        several = found.get(name) or (one.limits[name].value if name in one.limits else None)
        if not isinstance(several, dict) or entry not in several:
            raise InvalidInput(
                say("The limit {name} has no entry {entry}.", name=verbatim(name), entry=verbatim(entry))
            )
        found[name] = {**several, entry: value}
    return found


def _print(one: "Profile", *, as_json: bool) -> None:

    from console.checks import CHECKS
    from console.checks.limit_words import limit_title
    from console.checks.own import OWN_SOURCE, default, shown

    if as_json:
        plain: dict[str, Any] = one.entry()
        print(json.dumps(plain, ensure_ascii=False, indent=2))
        return
    print(f"{one.id}: {one.title_in(language())}")
    table = table_of(t("limit"), t("value"), t("what it is, and where it comes from"))
    for name, limit in one.limits.items():
        source = limit.source
        if source == OWN_SOURCE:
            usual = default(one, name)
            source = t("own value; usually {value} ({source})", value=shown(usual.value), source=usual.source)
        table.add_row(name, shown(limit.value), words(limit_title(name)))
        table.add_row("", "", source)
    draw(table)
    table = table_of(t("check"), t("name"))
    for check in one.checks:
        table.add_row(check, words(CHECKS[check].title))
    draw(table)
