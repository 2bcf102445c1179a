"""A conversation as a file: Markdown to read, JSON to process."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol

from console.text import render, say

FORMAT, VERSION = "ascend-pilot-conversation", 1
"""Of the JSON. A new version for any change that a reader of the old one would stumble over."""
NAME_BYTES = 100
ROLES = {"user": say("Question"), "assistant": say("Answer"), "system": say("System prompt")}
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Turn(Protocol):
    """One message. created in Unix seconds; figures = raw instants and counts of an answer."""

    @property
    def role(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def reasoning(self) -> str: ...
    @property
    def figures(self) -> Mapping[str, object]: ...
    @property
    def created(self) -> float: ...


def markdown(title: str, model: str, turns: Sequence[Turn], created: float, language: str = "en") -> str:
    """For reading: one section for each turn, thoughts as a quotation, code as it was written."""
    heading = say("Model {model}, {when}", model=model, when=_when(created))
    parts = [f"# {' '.join(title.split())}", render(heading, language)]
    for turn in turns:
        role = ROLES.get(turn.role)
        parts.append(f"## {render(role, language) if role else turn.role}")
        if turn.reasoning:
            thoughts = [render(say("Thoughts:"), language), "", *_closed(turn.reasoning).split("\n")]
            parts.append("\n".join(f"> {line}".rstrip() for line in thoughts))
        parts.append(_closed(turn.text))
    return "\n\n".join(parts) + "\n"


def exported(title: str, model: str, turns: Sequence[Turn], created: float, sampling: Mapping[str, object]) -> str:
    """For programs: JSON in UTF-8 with every message, its time (UTC) and its raw figures."""
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "title": title,
        "model": model,
        "created": _when(created),
        "sampling": dict(sampling),
        "messages": [
            {
                "role": turn.role,
                "content": turn.text,
                "reasoning": turn.reasoning,
                "created": _when(turn.created),
                "figures": dict(turn.figures),
            }
            for turn in turns
        ],
    }
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def file_name(title: str, ending: str) -> str:
    """A name for the file that every system takes, at most 100 bytes before the ending; Chinese is kept."""
    words = re.sub(r"[^\w]+", "-", title).strip("-_")
    kept = words.encode()[:NAME_BYTES].decode("utf-8", "ignore").strip("-_")
    # Windows keeps names such as "con" for devices
    return f"{kept if len(kept) > 4 else f'conversation-{kept}'.strip('-')}.{ending}"


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _closed(text: str) -> str:
    """`text`, with the code block of an answer cut short closed, or it would swallow what follows."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if not found:
            continue
        marks, rest = found.groups()
        if not fence:
            fence = "" if marks[0] == "`" and "`" in rest else marks
        elif marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip():
            fence = ""
    return f"{text.rstrip()}\n{fence}" if fence else text
