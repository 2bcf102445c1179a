"""Hides what may be a secret before anything is stored; the length of the text stays the same."""

import re

NAMES = r"(?:pass(?:word|wd|phrase)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential)s?"

# (?a): logs come as bytes read as Latin-1, where the second byte of many a Chinese letter would count as a blank.
PATTERNS = (
    re.compile(rf"(?ai)({NAMES}[\"']?\s*[=:]\s*[\"']?)([^\s\"'&;,]+)"),
    re.compile(rf"(?ai)(-[\w-]{{0,30}}{NAMES}\s+)([^\s-][^\s]*)"),
    re.compile(r"(?ai)(\bauthorization[\"']?\s*[=:]\s*[\"']?(?:bearer|basic)\s+)([^\s\"']+)"),
    re.compile(r"(?ai)(\bbearer\s+)([a-z0-9._~+/=-]{12,})"),
    re.compile(r"(?a)(://[^/\s:@]*:)([^@\s/]+)(?=@)"),
    re.compile(r"(?a)()(\b(?:sk|hf|ghp|glpat)[-_][A-Za-z0-9_-]{12,})"),
)
HARMLESS = re.compile(r"(?ai)^(?:none|null|true|false|\d{1,9}|<[^>]*>|\*+)$")
"""Values that say nothing: `max_tokens=128`, `token: None`."""


def mask(text: str) -> str:
    """`text` with the values of passwords, keys and tokens replaced by as many asterisks."""
    for pattern in PATTERNS:
        text = pattern.sub(_hide, text)
    return text


def _hide(found: re.Match[str]) -> str:
    value = found.group(2)
    return found.group(1) + (value if HARMLESS.match(value) else "*" * len(value))
