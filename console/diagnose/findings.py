"""Reads a log against the catalog of failures: what is likely wrong, the line that says so, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from console.catalog.failures import Failure, failures, places
from console.catalog.flags import Words

LONGEST = 400
"""Characters of an evidence line that are kept."""
FROM_THE_END = 3
"""How many lines from its end count as the last thing a log says."""
FINDINGS = 5
"""How many findings help; more would hide the first."""


@dataclass(frozen=True)
class Finding:
    """One failure that a log shows. `line` counts from 1; `times`: how many lines say it."""

    failure: Failure
    line: int
    evidence: str
    values: dict[str, str] = field(default_factory=dict)
    times: int = 1

    def cause(self, language: str) -> str:
        return _filled(self.failure.cause, language, self.values)

    def fix(self, language: str) -> str:
        return _filled(self.failure.fix, language, self.values)

    def plain(self) -> dict[str, object]:
        """For JSON: the sentences in both languages."""
        return {
            "id": self.failure.id,
            "group": self.failure.group,
            "line": self.line,
            "evidence": self.evidence,
            "times": self.times,
            "cause": {language: self.cause(language) for language in ("en", "zh")},
            "fix": {language: self.fix(language) for language in ("en", "zh")},
            "commands": list(self.failure.commands),
            "source": self.failure.source,
            "verified": self.failure.verified,
        }


def findings(log: str, known: Sequence[Failure] | None = None, *, most: int = FINDINGS) -> list[Finding]:
    """What the log shows, the first cause first; what only follows from another failure comes after every cause.

    One failure is one finding, however many lines say it; its evidence is the first of them. Nothing is found in a
    log that says nothing known, which does not mean that nothing is wrong.
    """
    found: dict[str, Finding] = {}
    lines = log.splitlines()
    end = len(_without_blanks(lines)) - FROM_THE_END
    for number, line in enumerate(lines, 1):
        for failure in failures() if known is None else known:
            matched = failure.match(line)
            if matched is None or (failure.last and number <= end):
                continue
            found[failure.id] = _counted(found.get(failure.id), failure, number, line, matched.groupdict())
            break
    return sorted(found.values(), key=_rank)[:most]


def _counted(
    before: Finding | None, failure: Failure, number: int, line: str, values: dict[str, str | None]
) -> Finding:
    if before is not None:
        return replace(before, times=before.times + 1)
    said = {name: value for name, value in values.items() if value is not None}
    return Finding(failure, number, line.strip()[:LONGEST], said)


def _rank(one: Finding) -> tuple[bool, int]:
    return one.failure.follows or one.failure.last, one.line


def _without_blanks(lines: Sequence[str]) -> Sequence[str]:
    """The lines up to the last one that says something."""
    last = next((number for number in range(len(lines), 0, -1) if lines[number - 1].strip()), 0)
    return lines[:last]


def _filled(words: Words, language: str, values: dict[str, str]) -> str:
    said = words.get(language) or words["en"]
    return said.format(**{name: values.get(name, "?") for name in places(said)})
