"""Reading lines that tools print: cleaning, `key : value` pairs, numbers and the words that mean "not there"."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Number = int | float

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_PROMPT = re.compile(
    r"^\s*(?:\([\w.+-]+\)\s*)?"
    r"(?:\[?[\w.-]+@[\w.-]+[^\n#$>]{0,80}?\]?\s?[#$](?:\s|$)|[#$]\s+(?=[\w./-]))"
)
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_UNIT = r"%|°?C|℃|m?W|[KMGT]i?B|kB|[KMG]?Hz|MHZ|[KMG]b/s|MT/s|pages?|days?|ms|s"
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""What Chinese input methods type for the signs of ASCII, such as a full-width bar or digit."""
_TWICE_AT_LEAST = 4
"""So many different lines must come again in the same order before a text counts as pasted twice."""
_QUANTITY = re.compile(rf"([+-]?[0-9]+(?:\.[0-9]+)?)\s*(?:{_UNIT})?")
NOTHING = frozenset(
    {"", "na", "n/a", "-", "--", "none", "null", "unknown", "unknown!", "not available", "not provided"}
)


def clean(text: str) -> str:
    """`text` once, with one kind of line end, blank and width of signs, without colours or the marks of a quotation."""
    text = _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = text.replace("\ufeff", "").replace("\u00a0", " ").replace("\u3000", " ").replace("\x00", "")
    text = text.translate(_FULL_WIDTH)
    rows = [row for row in text.split("\n") if row.strip()]
    if rows and all(row.startswith(">") for row in rows):  # quoted in a mail or an issue
        text = re.sub(r"^> ?", "", text, flags=re.MULTILINE)
    return _once(text)


def _once(text: str) -> str:
    """The first half of a text that consists of two equal halves, as when a capture was pasted twice."""
    rows = text.split("\n")
    said = [index for index, row in enumerate(rows) if row.strip()]
    half = len(said) // 2
    first, second = ([rows[index].rstrip() for index in part] for part in (said[:half], said[half:]))
    if first != second or len(set(first)) < _TWICE_AT_LEAST:
        return text
    return "\n".join([*rows[: said[half]], ""])


def lines(text: str) -> list[str]:
    """The lines of `text` that are output, not shell prompts with a command behind them."""
    return [line.rstrip() for line in clean(text).split("\n") if not is_prompt(line)]


def is_prompt(line: str) -> bool:
    return bool(_PROMPT.match(line))


def absent(words: str | None) -> bool:
    """Whether a cell says that there is no value (empty, NA, -, Unknown)."""
    return words is None or words.strip().lower() in NOTHING


def number(words: str | None) -> Number | None:
    """The number `words` consist of (a unit may follow), else None; "12.50" stays a decimal, "12" an integer."""
    match = _QUANTITY.fullmatch(words.strip()) if words else None
    if match is None:
        return None
    digits = match.group(1)
    return float(digits) if "." in digits else int(digits)


def whole(words: str | None) -> int | None:
    value = number(words)
    return value if isinstance(value, int) else None


def is_number(words: str) -> bool:
    return bool(_NUMBER.fullmatch(words.strip()))


def key_of(label: str) -> str:
    """A label without case, blanks, dashes and underscores, so that retyped labels still match."""
    folded = unicodedata.normalize("NFKC", label).lower()
    return re.sub(r"[\s_-]+", "", folded)


def pairs(rows: Iterable[str], separator: str = ":") -> Iterator[tuple[str, str, str]]:
    """(key as `key_of` writes it, value, the line) of every line with a separator."""
    for row in rows:
        label, found, value = row.replace("：", ":").partition(separator)
        if found and label.strip():
            yield key_of(label), value.strip(), row.strip()


@dataclass
class Fields:
    """The first value of each key, read on demand; what is there but cannot be read lands in `unread` with its line."""

    values: dict[str, tuple[str, str]]
    unread: list[str] = field(default_factory=list)

    @staticmethod
    def of(triples: Iterable[tuple[str, str, str]]) -> "Fields":
        values: dict[str, tuple[str, str]] = {}
        for key, value, line in triples:
            values.setdefault(key, (value, line))
        return Fields(values)

    def __contains__(self, key: str) -> bool:
        return key_of(key) in self.values

    def words(self, *keys: str) -> str | None:
        """The value of the first of `keys` that is there and says something."""
        for key in keys:
            value = self.values.get(key_of(key), ("", ""))[0]
            if not absent(value):
                return value
        return None

    def number(self, *keys: str) -> Number | None:
        words = self.words(*keys)
        value = number(words)
        if words is not None and value is None:
            self.unread.extend(self.values[key_of(key)][1] for key in keys if self.words(key) == words)
        return value

    def whole(self, *keys: str) -> int | None:
        value = self.number(*keys)
        return value if isinstance(value, int) else None
