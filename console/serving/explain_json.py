"""Reads the JSON values of a paste, repaired where quotes were lost or typographic ones came in."""

import ast
import json
import re
from typing import Any

from console.catalog.parsers import Option
from console.serving.explain_parts import Given, Settings, Word
from console.serving.explain_variables import literal
from console.serving.options import OF_OPTION
from console.text import say

EXAMPLE = '{"key": 1}'
GROUPS = ("additional_config", "speculative")
"""Settings that are groups and nothing else; a level of compilation may be one number."""


def take_json(settings: Settings, given: Given, option: Option, field: str | None) -> None:
    """A JSON value, into a field of the setting or carried on."""
    value = _parsed(settings, given, option)
    if value is None:
        return
    if field in GROUPS and not isinstance(value, dict):
        why = say("{name} takes {kind}, and '{value}' is not one.", name=option.name, kind=say("a group in braces"),
                  value=given.value)  # fmt: skip
        instead = say("Write it as '{example}', with double quotes inside and single quotes around.", example=EXAMPLE)
        settings.pasted.find(given.token, why, instead, given.raw)
        return
    settings.pasted.take(given.token, *(word.raw for word in given.values))
    if field is None:
        settings.extra += [option.name, json.dumps(value, ensure_ascii=False)]
    elif isinstance(value, dict):
        settings.add(field, value, given.token)
    else:  # `-O3`, `--compilation-config 3`
        settings.extra += [option.name, given.value]


def _parsed(settings: Settings, given: Given, option: Option) -> object | None:
    """The JSON value; repaired where quotes were lost on the way, which is said."""
    for text in (given.value, " ".join(word.raw for word in given.values)):
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if text != given.value:
            why = say("A shell takes the quotes out of this, and {name} then gets no JSON.", name=option.name)
            settings.pasted.find(given.token, why, say("Put single quotes around it: '{json}'.", json=text), given.raw)
        return value
    repaired = _repaired(given.value)
    why = say("What stands behind {name} is no JSON.", name=option.name)
    if repaired is None:
        instead = say("Write it as '{example}', with double quotes inside and single quotes around.", example=EXAMPLE)
        settings.pasted.find(given.token, why, instead, given.raw)
        return None
    text = json.dumps(repaired, ensure_ascii=False)
    settings.pasted.find(given.token, why, say("Put single quotes around it: '{json}'.", json=text), given.raw)
    return repaired


def take_dotted(settings: Settings, given: Given, option: Option, path: str) -> None:
    """`--compilation-config.cudagraph_mode FULL`: one entry of a JSON value."""
    if option.kind not in ("json", "words") or not given.values:
        why = say("{name} has no parts to be set one by one, or the value is missing.", name=option.name)
        settings.pasted.find(given.token, why, say("Write {name} with its whole value.", name=option.name), given.raw)
        return
    value: Any = literal(given.value)
    if path.endswith("+"):
        value = [literal(one) for one in given.value.split(",")]
    for key in reversed(path.rstrip("+").split(".")):
        value = {key: value}
    take_json(
        settings,
        Given(given.token, option.name, (Word(json.dumps(value), given.values[0].raw),)),
        option,
        OF_OPTION.get(option.name),
    )


def _repaired(text: str) -> object | None:
    """JSON with typographic or single quotes, or Python's words for truth and nothing."""
    plain = text.translate(str.maketrans("“”‘’：，", "\"\"'':,"))
    for attempt in (plain, plain.replace("'", '"')):
        try:
            value: object = json.loads(attempt)
        except (ValueError, RecursionError):
            continue
        return value
    try:
        found = ast.literal_eval(
            re.sub(r"\b(true|false|null)\b", lambda one: {"true": "True", "false": "False"}.get(one[0], "None"), plain)
        )
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return found if isinstance(found, dict | list) else None
