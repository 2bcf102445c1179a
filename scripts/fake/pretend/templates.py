"""The part of Go's template language that `docker --format` is asked in: fields, range, json, variables."""

import json
import re

ANYTHING = object()
"""Has every field: for the look at the inside of a loop that nobody shows."""
_PART = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)


def fill(template: str, value: object) -> str:
    """Raises ValueError for what is not understood."""
    parts = _PART.split(template)
    text, rest = _render(parts, 0, value, {})
    if rest < len(parts):
        raise ValueError("unexpected {{end}}")
    return text


def _render(parts: list[str], index: int, value: object, names: dict[str, object]) -> tuple[str, int]:
    """Text of `parts` from `index` to the end that belongs to it, and where that is."""
    said = ""
    while index < len(parts):
        said += parts[index]
        index += 1
        if index >= len(parts):
            break
        words = parts[index]
        index += 1
        if words == "end":
            return said, index
        if words.startswith("range "):
            text, index = _range(parts, index, words, value, names)
            said += text
        elif words.startswith("if "):
            text, after = _render(parts, index, value, names)
            said, index = said + (text if _value(words[3:], value, names) else ""), after
        else:
            said += _shown(words, value, names)
    return said, index


def _range(parts: list[str], index: int, words: str, value: object, names: dict[str, object]) -> tuple[str, int]:
    match = re.fullmatch(r"range\s+(?:(\$\w+)\s*(?:,\s*(\$\w+))?\s*:=\s*)?(\S+)", words)
    if not match:
        raise ValueError(words)
    first, second, path = match.groups()
    many = _value(path, value, names)
    pairs = list(many.items()) if isinstance(many, dict) else list(enumerate(many if isinstance(many, list) else []))
    said, after = (
        "",
        _render(parts, index, ANYTHING, {**names, **dict.fromkeys((one for one in (first, second) if one), ANYTHING)})[
            1
        ],
    )
    for key, one in pairs:
        inner = {**names, **({first: key, second: one} if second else {first: one} if first else {})}
        said += _render(parts, index, one, inner)[0]
    return said, after


def _value(path: str, value: object, names: dict[str, object]) -> object:
    head, *rest = path.split(".")
    found = value
    if head.startswith("$"):
        if head != "$" and head not in names:
            raise ValueError(f"undefined variable {head}")
        found = names.get(head, value)
    elif head:
        raise ValueError(f'function "{head}" not defined')
    for name in rest:
        if name and found is not ANYTHING:
            if not isinstance(found, dict) or name not in found:
                where = f'template: :1:2: executing "" at <{path}>'
                raise ValueError(f'template parsing error: {where}: map has no entry for key "{name}"')
            found = found[name]
    return found


def _shown(words: str, value: object, names: dict[str, object]) -> str:
    if words.startswith("json "):
        shown = _value(words[5:].strip(), value, names)
        return json.dumps(None if shown is ANYTHING else shown)
    found = _value(words, value, names)
    return str(found).lower() if isinstance(found, bool) else str(found)
