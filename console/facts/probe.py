"""One shell script that asks a host for many facts at once, and reading its answer."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from console.errors import InvalidInput
from console.facts.fact import Fact
from console.facts.local import FACTS
from console.facts.probe_shell import MOST_BYTES, SHELL
from console.facts.system import parse_probe_note
from console.facts.trouble import Trouble
from console.masking import mask
from console.text import Text, say, verbatim

PROBE = Fact("probe", "", parse_probe_note)
"""What the frame says of itself: its temporary folder, and folders it could not write."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_TOKEN = re.compile(r"[A-Za-z0-9]{16,64}")
_END = (
    r"code=(?P<code>-?\d*) began=(?P<began>[\d.]*) ended=(?P<ended>[\d.]*) late=(?P<late>[01]) "
    r"limit=(?P<limit>\d+) bytes=(?P<bytes>\d*)"
)


@dataclass(frozen=True)
class Raw:
    """What one command printed, secrets masked. `code` and `seconds` are null when the command never came to an end."""

    name: str
    text: str
    code: int | None
    seconds: float | None
    timed_out: bool = False
    truncated: bool = False
    limit_s: int = 0


@dataclass(frozen=True)
class Facts:
    """Values by fact name; for each fact without a value the reason; and the raw output as evidence."""

    values: Mapping[str, object] = field(default_factory=dict)
    reasons: Mapping[str, Text] = field(default_factory=dict)
    raws: Mapping[str, Raw] = field(default_factory=dict)

    def reason(self, name: str) -> Text:
        return self.reasons.get(name, say("This fact was not asked for: {name}.", name=name))


def probe_script(facts: Sequence[Fact], token: str, values: Mapping[str, str] | None = None) -> str:
    """One POSIX script that runs every fact's command side by side and prints a section for each.

    `token` marks the sections: random letters and digits (16 to 64) that the host cannot know beforehand.
    `values` become environment variables of the commands. Raises InvalidInput for names that cannot be used.
    """
    names = [fact.name for fact in facts]
    bad = [name for name in names if not _NAME.fullmatch(name) or names.count(name) > 1 or name == PROBE.name]
    bad += [name for name in values or {} if not _VARIABLE.fullmatch(name)]
    if bad or not _TOKEN.fullmatch(token):
        raise InvalidInput(say("These names cannot be used in a probe: {names}.", names=", ".join(bad) or token))
    exports = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in (values or {}).items())
    asks = "\n".join(f"ask {fact.name} {int(fact.limit_s)} {shlex.quote(fact.command)}" for fact in facts)
    parts = {"TOKEN": token, "EXPORTS": exports, "ASKS": asks, "MOST_BYTES": str(MOST_BYTES)}
    return re.sub(r"%([A-Z_]+)%", lambda match: parts[match.group(1)], SHELL)


def split(output: str, token: str) -> dict[str, Raw]:
    """The complete sections in `output` by name; one that was cut off is left out, since half a table misleads."""
    begin = rf"^@@{token} begin (?P<name>\w+)@@\r?\n(?P<text>.*?)\r?\n?^@@{token} end (?P=name) {_END}@@"
    pattern = re.compile(begin, re.DOTALL | re.MULTILINE)
    return {match.group("name"): _raw(match) for match in pattern.finditer(output)}


def _raw(match: re.Match[str]) -> Raw:
    code = int(match.group("code")) if match.group("code") else None
    began, ended = match.group("began"), match.group("ended")
    seconds = round(float(ended) - float(began), 2) if began and ended else None
    limit = int(match.group("limit"))
    was_killed = code in (124, 137, 143) and seconds is not None and seconds >= limit
    return Raw(
        name=match.group("name"),
        text=mask(match.group("text")),
        code=code,
        seconds=seconds,
        timed_out=code is None or was_killed or match.group("late") == "1",
        truncated=int(match.group("bytes") or 0) > MOST_BYTES,
        limit_s=limit,
    )


def read(raws: Mapping[str, Raw], facts: Iterable[Fact] = FACTS) -> Facts:
    """What `raws` mean: each fact's value, or the reason why there is none."""
    values: dict[str, object] = {}
    reasons: dict[str, Text] = {}
    for fact in (PROBE, *facts):
        found = _value(fact, raws.get(fact.name))
        if isinstance(found, Text):
            reasons[fact.name] = found
        else:
            values[fact.name] = found
    return Facts(values, reasons, dict(raws))


def _value(fact: Fact, raw: Raw | None) -> object:
    if raw is None:
        return say("The host sent no answer to this question.")
    if raw.timed_out:
        return say("The command did not finish within {seconds} s and was ended.", seconds=raw.limit_s or fact.limit_s)
    if raw.truncated or len(raw.text) >= MOST_BYTES:
        return say("The command printed more than {kib} KiB; the rest was cut off.", kib=MOST_BYTES // 1024)
    try:
        value = fact.parser(raw.text)
    except Exception as error:
        name = verbatim(f"{type(error).__name__}: {error}")
        return say("The output could not be read ({error}). Please report it together with the output.", error=name)
    return value.message if isinstance(value, Trouble) else value
