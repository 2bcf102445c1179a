"""Reads what a runbook printed: the results of its steps, told from everything that is cut, changed or foreign.

pilot-result 3f9ac1d20b7e 3/12        token of the plan, number of the step / count of steps
step driver                            then state, code, seconds, for, on
| last lines of its log                of a step that failed
pilot-end 1234567890                   cksum of the printable ASCII above: what becomes of blanks does not matter
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from console.errors import InvalidInput
from console.text import Text, say

BEGIN, END, LOG = "pilot-result", "pilot-end", "|"
CHECKED = "!-~"
"""The characters that count for the sum, as tr writes them."""
KEPT_LINES = 60
STATES = ("ok", "satisfied", "failed", "asks", "restarts")
KEYS = ("step", "state", "code", "seconds", "for", "on")
_FIRST = re.compile(rf"^{BEGIN} ([0-9a-f]{{12}}) (\d{{1,4}})/(\d{{1,4}})$")
_LAST = re.compile(rf"^{END} (\d{{1,10}})$")
LONGEST = 20_000_000


@dataclass(frozen=True)
class Result:
    """What a runbook says of one step. `seconds` by a clock that nobody sets; `machine`: what the host calls itself."""

    token: str
    number: int
    count: int
    name: str
    state: str
    code: int
    seconds: int
    host: str
    machine: str
    log: str = ""


@dataclass
class _Block:
    """The lines from a first line on."""

    head: re.Match[str]
    lines: list[str] = field(default_factory=list)

    @property
    def number(self) -> int:
        return int(self.head[2])


def results(pasted: str) -> list[Result]:
    """The result of each step that is told, in order; of several for one step the latest, but what was done stays done.

    InvalidInput with every trouble that was seen: nothing of such a text may be used.
    """
    if len(pasted) > LONGEST:
        raise InvalidInput(say("This text is too long to be what a runbook printed."))
    found: dict[int, Result] = {}
    tokens: list[str] = []
    for block in _blocks(pasted):
        one = _result(block)
        before = found.get(one.number)
        if before is None or before.state != "ok" or one.state != "satisfied":
            found[one.number] = one
        tokens.append(one.token)
    if not found:
        raise InvalidInput(
            say(
                "There is no result of a runbook in this text. Paste everything the script printed, or bring the file "
                "pilot-results-….txt, which lies where the script was started."
            )
        )
    if len(set(tokens)) > 1:
        raise InvalidInput(
            say("This text holds results of {count} different runbooks. Bring those of one at a time.",
                count=len(set(tokens)))
        )  # fmt: skip
    return [found[number] for number in sorted(found)]


def _blocks(pasted: str) -> Iterator[_Block]:
    """Each whole block with a right sum. InvalidInput at the first that is not."""
    block: _Block | None = None
    for line in map(str.strip, pasted.replace("\r", "\n").split("\n")):
        if head := _FIRST.match(line):
            if block is not None:
                raise _cut(block.number)
            block = _Block(head, [line])
        elif (last := _LAST.match(line)) and block is not None:
            if cksum(block.lines) != int(last[1]):
                raise InvalidInput(
                    say(
                        "The result of step {number} was changed on its way: its sum does not match. Nothing was "
                        "recorded. Copy it again from the terminal, or bring the file pilot-results-….txt.",
                        number=block.number,
                    )
                )
            yield block
            block = None
        elif last or line.startswith(f"{BEGIN} "):
            raise InvalidInput(
                say(
                    "A result begins or ends in the middle of the text: “{line}”. Nothing was recorded. Copy it again "
                    "from its first line on, or bring the file pilot-results-….txt.",
                    line=line[:80],
                )
            )
        elif block is not None:
            block.lines.append(line)
    if block is not None:
        raise _cut(block.number)


def _cut(number: int) -> InvalidInput:
    return InvalidInput(
        say(
            "The result of step {number} is cut: its last line is missing. Nothing was recorded. Copy it again to its "
            "end, or bring the file pilot-results-….txt.",
            number=number,
        )
    )


def _result(block: _Block) -> Result:
    told: dict[str, str] = {}
    log = []
    for line in block.lines[1:]:
        key, _, value = line.partition(" ")
        if key == LOG:
            log.append(value)
        elif key in KEYS and key not in told:
            told[key] = value.strip()
    try:
        return Result(
            block.head[1],
            block.number,
            int(block.head[3]),
            told["step"],
            _known(told["state"]),
            int(told["code"]),
            max(0, int(told["seconds"])),
            told["for"],
            told["on"],
            "".join(f"{line}\n" for line in log),
        )
    except (KeyError, ValueError) as error:
        raise InvalidInput(
            say("The result of step {number} lacks “{field}” or says it in an unknown way.",
                number=block.number, field=str(error).strip("'"))
        ) from error  # fmt: skip


def _known(state: str) -> str:
    if state not in STATES:
        raise ValueError(state)
    return state


def cksum(lines: Sequence[str]) -> int:
    """The sum of POSIX cksum over the printable ASCII characters of the lines, blanks left out."""
    octets = [byte for byte in "".join(lines).encode() if 0x21 <= byte <= 0x7E]
    length = len(octets)
    while length:
        octets.append(length & 0xFF)
        length >>= 8
    crc = 0
    for byte in octets:
        crc = (crc << 8 & 0xFFFFFFFF) ^ TABLE[(crc >> 24) ^ byte]
    return ~crc & 0xFFFFFFFF


def _row(byte: int) -> int:
    crc = byte << 24
    for _ in range(8):
        crc = (crc << 1 ^ 0x04C11DB7 if crc & 0x80000000 else crc << 1) & 0xFFFFFFFF
    return crc


TABLE = tuple(map(_row, range(256)))


def problem(found: Sequence[Result], plan: str, names: Sequence[str]) -> Text | None:
    """Why these results are not those of the plan with this token and these steps; None when they are."""
    for one in found:
        if one.token != plan or one.count != len(names) or not 1 <= one.number <= len(names):
            return say("These results belong to another plan than that of the runbook {token}.", token=plan)
        if names[one.number - 1] != one.name:
            return say("Step {number} of that runbook is {wanted}, not {seen}.", number=one.number,
                       wanted=names[one.number - 1], seen=one.name)  # fmt: skip
    return None
