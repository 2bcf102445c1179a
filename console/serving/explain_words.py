"""Takes a pasted text apart into commands and their words, as a shell would, and forgiving what a shell would not."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from console.serving.explain_parts import Word

OPENING = {
    "'": "'", '"': '"', "\u2018": "\u2018\u2019'", "\u2019": "\u2019\u2018'", "\u201c": '\u201c\u201d"',
    "\u201d": '\u201d\u201c"', "\u201e": '\u201c\u201d"', "\uff02": '\uff02"', "\uff07": "\uff07'",
    "\u300c": "\u300d", "\u300e": "\u300f",
}  # fmt: skip
"""Quotes of every kind, with those that may close them."""
LITERAL = ("'", "\u2018", "\u2019", "\uff07")
"""Quotes within which a shell replaces nothing."""
INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500\uff0d\ufe58\ufe63"
_OPTION = re.compile(rf"[{DASHES}]+(?=[A-Za-z])")
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MARKS = "\uff0c\u3002\u3001\uff01"
"""Commas and full stops of Chinese, which end a word where a blank, a dash or Chinese follows."""
_PROMPT = re.compile(
    r"^\s*(?:\((?:[\w.-]+)\)\s*)?(?:\[?[\w.-]+@[\w.-]+[^\]\n$#]{0,60}\]?\s*[#$]\s+|[$%>]\s+|[A-Z]:\\[^>\n]*>\s*"
    r"|PS [A-Z]:\\[^>\n]*>\s*|>>>\s|\.\.\.\s)"
)
_FENCE = re.compile(r"^\s*(?:>\s*)?(```|~~~).*$")
_CONTINUED = re.compile(r"[\\^`\uff3c][ \t\r]*(?=\n|$)")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::[-=?+][^}]*)?\}|([A-Za-z_]\w*))")
_POSITION = re.compile(r"\$([0-9@*#])")
_BLANK = re.compile(r"<[A-Za-z0-9\u4e00-\u9fff][^<>{}]*>")
DOLLAR = "\ue000"
"""Stands for a dollar sign that a shell would leave alone."""
OPEN = "\ue001"
"""Stands for the dollar sign of a variable that the text does not set."""


@dataclass
class Command:
    """The words of one simple command. end: what stood behind it (";", "&", "|", "&&", "||" or "")."""

    words: list[Word] = field(default_factory=list)
    end: str = ""


@dataclass
class Text:
    """A text taken apart: commands in their order, and what is around them, as pasted."""

    commands: list[Command] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    frame: list[str] = field(default_factory=list)


def apart(text: str) -> Text:
    """Commands, comments and frame (fences, prompts) of a text. Never raises."""
    made = Text()
    lines = []
    for line in _COLOUR.sub("", text).split("\n"):
        if fence := _FENCE.match(line):
            made.frame.append(fence[0].strip())
            lines.append("")
            continue
        if prompt := _PROMPT.match(line):
            made.frame.append(prompt[0].strip())
            line = line[prompt.end() :]
        stripped = line.strip()
        if len(stripped) > 2 and stripped[0] == stripped[-1] == "`" and "`" not in stripped[1:-1]:
            made.frame += ["`", "`"]
            line = stripped[1:-1]
        lines.append(line)
    _Reading("\n".join(lines), made).all()
    return made


class _Reading:
    """One pass over a text, character by character."""

    def __init__(self, text: str, made: Text) -> None:
        self.text, self.made, self.at = text, made, 0
        self.command = Command()
        self.value: list[str] = []
        self.begin: int | None = None

    def all(self) -> None:
        while self.at < len(self.text):
            self._next()
        self._word()
        self._end("")

    def _next(self) -> None:
        one = self.text[self.at]
        if one in "\\^`\uff3c" and (found := _CONTINUED.match(self.text, self.at)):
            self._word()
            self.at = found.end() + 1
        elif one == "\n":
            self._word()
            self._end("")
            self.at += 1
        elif INVISIBLE.match(one):
            self.at += 1
        elif one.isspace() or one == "`" or unicodedata.category(one) == "Cc":
            self._word()
            self.at += 1
        elif one in _MARKS and self._ends_words():
            self._word()
            self._add(one, 1)
            self._word()
        elif one == "#" and self.begin is None:
            self._comment()
        elif one in OPENING and not self._is_apostrophe():
            self._quoted(one)
        elif one == "\\" and self.at + 1 < len(self.text):
            self._add(self.text[self.at + 1].replace("$", DOLLAR), 2)
        elif one in ";&|\uff1b" and not self._is_redirection():
            self._separator()
        else:
            self._add(_narrow(one), 1)

    def _add(self, text: str, length: int) -> None:
        if self.begin is None:
            self.begin = self.at
        self.value.append(text)
        self.at += length

    def _ends_words(self) -> bool:
        after = self.text[self.at + 1 : self.at + 2]
        return not after or after.isspace() or after in DASHES or "\u3000" <= after <= "\u9fff"

    def _is_apostrophe(self) -> bool:
        """As in "don't": a letter on both sides."""
        before, after = self.text[self.at - 1 : self.at], self.text[self.at + 1 : self.at + 2]
        is_single = self.text[self.at] in ("'", "\u2018", "\u2019")
        return is_single and before.isalpha() and after.isalpha() and self.begin is not None

    def _quoted(self, one: str) -> None:
        closing, at, inner = OPENING[one], self.at + 1, []
        while at < len(self.text) and self.text[at] not in closing:
            if (
                self.text[at] == "\\"
                and one not in LITERAL
                and self.text[at + 1 : at + 2] in ('"', "\\", "$", "`", "\n")
            ):
                inner.append({"\n": "", "$": DOLLAR}.get(self.text[at + 1], self.text[at + 1]))
                at += 2
                continue
            inner.append(DOLLAR if self.text[at] == "$" and one in LITERAL else self.text[at])
            at += 1
        if at >= len(self.text):  # never closed: it was no quote
            self._add(one, 1)
        else:
            self._add("".join(inner), at + 1 - self.at)

    def _comment(self) -> None:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        self.made.comments.append(self.text[self.at : end].strip())
        self.at = end

    def _is_redirection(self) -> bool:
        """The & of 2>&1 and of &>."""
        return self.text[self.at] == "&" and (
            self.text[self.at - 1 : self.at] == ">" or self.text[self.at + 1 : self.at + 2] == ">"
        )

    def _separator(self) -> None:
        self._word()
        one = self.text[self.at]
        double = self.text[self.at : self.at + 2] in ("&&", "||")
        self._end(one * 2 if double else _narrow(one))
        self.at += 2 if double else 1

    def _word(self) -> None:
        if self.begin is not None:
            raw = self.text[self.begin : self.at].rstrip()
            value = "".join(self.value)
            self.command.words.append(Word(_dashed(value, raw), raw))
        self.begin, self.value = None, []

    def _end(self, separator: str) -> None:
        if self.command.words:
            self.command.end = separator
            self.made.commands.append(self.command)
        elif separator and self.made.commands:
            self.made.commands[-1].end = self.made.commands[-1].end or separator
        self.command = Command()


def _narrow(one: str) -> str:
    """Full-width signs, as a Chinese keyboard writes them, as the plain ones; letters of other scripts stay."""
    if "\uff01" <= one <= "\uff5e":
        return unicodedata.normalize("NFKC", one)
    return one


def _dashed(value: str, raw: str) -> str:
    """An option whose dashes a text program or a Chinese keyboard replaced."""
    found = _OPTION.match(raw)
    if found is None or set(found[0]) == {"-"}:
        return value
    name = re.split(r"[=:\uff1d]", value[len(found[0]) :], maxsplit=1)[0]
    return ("-" if len(name) <= 3 and len(found[0]) == 1 else "--") + value[len(found[0]) :]


def resolved(word: Word, values: dict[str, str]) -> Word:
    """The word with variables replaced that the text itself sets."""

    def one(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return values.get(name, f"{OPEN}{found[0][1:]}")

    text = _POSITION.sub(lambda found: f"{OPEN}{found[1]}", _VARIABLE.sub(one, word.text))
    return Word(text.replace(DOLLAR, "$"), word.raw)


def is_open(text: str) -> bool:
    """Whether something stands in a text that only who wrote it can fill in: $NAME, $1, <NAME>."""
    return OPEN in text or _BLANK.search(text) is not None


def braces_joined(words: list[Word]) -> Iterator[Word]:
    """Words with JSON that nobody quoted put together again: `{"method": "mtp"}` is two words to a shell."""
    waiting: list[Word] = []
    open_ = 0
    for word in words:
        waiting.append(word)
        open_ += word.raw.count("{") - word.raw.count("}")
        begins = waiting[0].raw.startswith("{") or re.match(r"--[\w.-]+=\{", waiting[0].raw)
        if not begins or open_ <= 0:
            raw = " ".join(one.raw for one in waiting)
            yield waiting[0] if len(waiting) == 1 else Word(" ".join(one.text for one in waiting), raw)
            waiting, open_ = [], 0
    yield from waiting
