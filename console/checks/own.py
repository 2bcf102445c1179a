"""Editing a profile of one's own: which values a limit may take, and which checks may belong to it."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from console.catalog.profiles import PROFILES, Limit, Profile
from console.checks.limit_words import limit_title
from console.errors import InvalidInput
from console.text import Text, say, verbatim

OWN_SOURCE = "own value of this profile"
LONGEST = 60
WHOLE = frozenset({"npus", "cores", "cores_for_npu", "open_files", "sysctls"})
MAY_BE_ZERO = frozenset({"sysctls", "idle_temperature_margin_c"})
RANGES: Mapping[str, tuple[float, float]] = {"memory_usable_part": (0.5, 1), "idle_power_ratio": (1, 100)}
MOST = 1e9
ORDERED = (("memory_least_gib", "memory_wished_gib"), ("room_least_gib", "room_wished_gib"))
MAJOR_MINOR = frozenset({"glibc", "pythons"})
_VERSION = re.compile(r"\d{1,4}(\.[0-9A-Za-z]{1,12}){1,4}")
_WORD = re.compile(r"[\w .+/:-]{1,40}")
_SHORT_VERSION = re.compile(r"\d{1,3}\.\d{1,3}")


def named(given: str) -> str:
    """The name of a profile in one line. InvalidInput for none, or one that is too long."""
    name = " ".join(given.split())
    if not name or len(name) > LONGEST or not re.search(r"\w", name):
        raise InvalidInput(say("A profile needs a name of at most {most} characters.", most=LONGEST))
    return name


def id_for(name: str) -> str:
    """What the profile is called in addresses and on the command line: the name without blanks and signs."""
    return re.sub(r"[^\w.]+", "-", name).strip("-.").lower()


def choices(one: Profile) -> list[str]:
    """The checks that may belong to the profile: those of built-in profiles that have the same limits."""
    names = set(PROFILES[one.origin].limits)
    kin = [each for each in PROFILES.values() if set(each.limits) == names]
    longest = max(kin, key=lambda each: len(each.checks))
    return list(dict.fromkeys([*longest.checks, *(name for each in kin for name in each.checks)]))


def default(one: Profile, name: str) -> Limit:
    """The limit of the built-in profile that this one was copied from."""
    return PROFILES[one.origin].limits[name]


def changed_limits(one: Profile) -> list[Text]:
    """What a profile of one's own compares with other than the built-in one does, one sentence each."""
    return [
        say(
            "{limit}: {value}, usually {usual}",
            limit=limit_title(name),
            value=verbatim(shown(limit.value)),
            usual=verbatim(shown(default(one, name).value)),
        )
        for name, limit in one.limits.items()
        if limit.source == OWN_SOURCE and name in PROFILES[one.origin].limits
    ]


def shown(value: object) -> str:
    """A value of a limit in one line."""
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {shown(each)}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def edited(
    one: Profile,
    *,
    title: str | None = None,
    checks: Sequence[str] | None = None,
    limits: Mapping[str, object],
) -> Profile:
    """The profile with these changes. Raises InvalidInput with the limit and what it may be."""
    if title is not None:
        name = named(title)
        one = replace(one, title={"en": name, "zh": name})
    if checks is not None:
        one = replace(one, checks=_checks(one, checks))
    values = dict(one.limits)
    for name, given in limits.items():
        usual = default(one, name) if name in PROFILES[one.origin].limits else None
        if usual is None:
            known = ", ".join(one.limits)
            raise InvalidInput(say("There is no limit {name}. There are: {names}.", name=verbatim(name), names=known))
        value = _value(name, "", usual.value, given)
        values[name] = usual if value == usual.value else Limit(value, OWN_SOURCE)
    _in_order(values)
    return replace(one, limits=values)


def _checks(one: Profile, given: Sequence[str]) -> tuple[str, ...]:
    possible = choices(one)
    if strange := [name for name in given if name not in possible]:
        raise InvalidInput(
            say(
                "These checks cannot belong to this profile: {names}. Possible are: {possible}.",
                names=verbatim(", ".join(strange)),
                possible=", ".join(possible),
            )
        )
    if not given:
        raise InvalidInput(say("A profile needs at least one check."))
    return tuple(name for name in possible if name in given)


def _value(name: str, key: str, usual: object, given: object) -> object:
    """`given` in the form of `usual`, the value of the built-in profile."""
    if isinstance(usual, Mapping):
        if not isinstance(given, Mapping) or set(given) != set(usual):
            raise _refused(name, "", say("a value for each of these: {keys}", keys=", ".join(map(str, usual))))
        return {entry: _value(name, str(entry), usual[entry], given[entry]) for entry in usual}
    if isinstance(usual, list):
        return _words(name, key, given)
    if isinstance(usual, int | float):
        return _number(name, key, given)
    return _version(name, key, str(given).strip())


def _number(name: str, key: str, given: object) -> float:
    try:
        value = float(str(given))
    except ValueError:
        value = math.nan
    low, high = RANGES.get(name, (0.0, MOST))
    fits = low <= value <= high and (value > 0 or name in MAY_BE_ZERO)
    if name in WHOLE:
        if not fits or value != int(value):
            least = 0 if name in MAY_BE_ZERO else 1
            wanted = say("a whole number of {least} or more, not {given}", least=least, given=verbatim(str(given)))
            raise _refused(name, key, wanted)
        return int(value)
    if not fits:
        bounds = say(
            "a number from {low} to {high}, not {given}", low=f"{low:g}", high=f"{high:g}", given=verbatim(str(given))
        )
        raise _refused(name, key, bounds)
    return int(value) if value == int(value) else value


def _version(name: str, key: str, given: str) -> str:
    if name in MAJOR_MINOR:
        if not _SHORT_VERSION.fullmatch(given):
            raise _refused(name, key, say("a version such as 2.34, not {given}", given=verbatim(given or "-")))
    elif not _VERSION.fullmatch(given):
        raise _refused(name, key, say("a version such as 25.5.1, not {given}", given=verbatim(given or "-")))
    return given


def _words(name: str, key: str, given: object) -> list[str]:
    parts = given.split(",") if isinstance(given, str) else given if isinstance(given, Sequence) else []
    words = list(dict.fromkeys(" ".join(str(part).split()) for part in parts if str(part).strip()))
    if not words:
        raise _refused(name, key, say("at least one word; several are separated by commas"))
    if strange := [word for word in words if not _WORD.fullmatch(word)]:
        raise _refused(name, key, say("words of letters, digits and dashes, not {given}", given=verbatim(strange[0])))
    if name == "pythons":
        words = [_version(name, key, word) for word in words]
        if len(words) != 2 or _pair(words[0]) > _pair(words[1]):
            raise _refused(name, key, say("two versions, the oldest first, such as 3.10, 3.12"))
    return words


def _pair(version: str) -> tuple[int, int]:
    major, minor = version.split(".")
    return int(major), int(minor)


def _in_order(values: Mapping[str, Limit]) -> None:
    for least, wished in ORDERED:
        if least in values and float(str(values[least].value)) > float(str(values[wished].value)):
            raise InvalidInput(
                say("“{least}” must not be more than “{wished}”.", least=limit_title(least), wished=limit_title(wished))
            )


def _refused(name: str, key: str, wanted: Text) -> InvalidInput:
    return InvalidInput(say("“{limit}” takes {wanted}.", limit=limit_title(name, key), wanted=wanted))
