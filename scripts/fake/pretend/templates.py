"""The part of Go's template language that `docker --format` is asked in: fields, range, json, variables."""

import json
import re

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
    said, after = "", _render(parts, index, {}, {**names, **{name: "" for name in (first, second) if name}})[1]
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
        if name:
            found = found.get(name, "") if isinstance(found, dict) else ""
    return found


def _shown(words: str, value: object, names: dict[str, object]) -> str:
    if words.startswith("json "):
        return json.dumps(_value(words[5:].strip(), value, names))
    found = _value(words, value, names)
    return str(found).lower() if isinstance(found, bool) else str(found)
