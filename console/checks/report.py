"""A checklist as a document of its own that can be sent by mail: what it holds, and as JSON and Markdown."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from console.catalog.profiles import Profile
from console.checks.check import AREAS, WAIVED, Judged, Level, Waived
from console.checks.own import changed_limits
from console.text import Text, render, say, verbatim

STANDINGS: Mapping[str, tuple[str, Text]] = {
    Level.FAIL: ("■", say("fail")),
    Level.WARN: ("▲", say("warning")),
    Level.UNKNOWN: ("?", say("unknown")),
    WAIVED: ("◇", say("waived")),
    Level.PASS: ("●", say("pass")),
}
"""Shape and word of each, the worst first."""
SIGNS = re.compile(r"([\\`*\[\]<>|~&#@$]|!(?=\[)|(?<!\w)_|_(?!\w)|:(?=//)|(?<=\bwww)\.)", re.IGNORECASE)
"""The signs that Markdown reads as more than themselves within a line; others, as in an address, stay readable."""


@dataclass(frozen=True)
class Report:
    """One checklist of one host, ready to be written down.

    way     how the host is reached, "" for this machine
    time    of its last whole probe, Unix seconds; `times` by fact where it was asked again since
    zone    in which the document shows times
    """

    host: str
    way: str
    time: float
    profile: Profile
    judged: Sequence[Judged]
    times: Mapping[str, float] = field(default_factory=dict)
    zone: tzinfo = UTC
    simulated: bool = False

    @property
    def name(self) -> Text:
        """Of the host, with the mark of a rehearsal host."""
        return say("{name} (simulated)", name=self.host) if self.simulated else verbatim(self.host)

    def moment(self, when: float) -> str:
        shown = datetime.fromtimestamp(when, self.zone)
        return f"{shown:%Y-%m-%d %H:%M} UTC{shown:%z}".removesuffix("+0000")

    def asked(self, one: Judged) -> float:
        """When the oldest answer was given that this verdict rests on."""
        return min((self.times.get(name, self.time) for name in one.facts), default=self.time)

    def counts(self) -> dict[str, int]:
        """How many of each standing there are, the worst first, without those that do not occur."""
        found = Counter(one.standing for one in self.judged)
        return {name: found[name] for name in STANDINGS if found[name]}

    def areas(self) -> Iterator[tuple[Text, list[Judged]]]:
        """The checks by area."""
        return by_area(self.judged)


def by_area(judged: Sequence[Judged]) -> Iterator[tuple[Text, list[Judged]]]:
    """Title of each area that has checks, with these; the areas always in the same order."""
    for area, title in AREAS.items():
        if mine := [one for one in judged if one.area == area]:
            yield title, mine


def waiver_words(one: Judged, date: str) -> Text | None:
    """Who waived the check, when and why; whether that is still needed."""
    if one.waiver is None:
        return None
    words = say("waived by {name} on {date}: {reason}", name=one.waiver.name, date=date, reason=one.waiver.reason)
    return say("It passes now, so this is no longer needed: {waiver}", waiver=words) if one.passed else words


def worst(judged: Sequence[Judged]) -> str:
    """The worst standing of all; a pass only where everything passed."""
    found = {one.standing for one in judged}
    return str(next((name for name in STANDINGS if name in found), Level.PASS))


def plain(report: Report, language: str = "en") -> dict[str, object]:
    """For JSON: names that stay, sentences in `language`, times in Unix seconds."""
    return {
        "host": report.host,
        "simulated": report.simulated,
        "way": report.way,
        "time": report.time,
        "profile": report.profile.id,
        "profile_title": report.profile.title_in(language),
        "worst": worst(report.judged),
        "counts": {str(name): count for name, count in report.counts().items()},
        "checks": [_plain(report, one, language) for one in report.judged],
    }


def _plain(report: Report, one: Judged, language: str) -> dict[str, object]:
    verdict = one.verdict
    return {
        "name": one.name,
        "area": one.area,
        "title": render(one.title, language),
        "level": str(verdict.level),
        "standing": one.standing,
        "seen": render(verdict.seen, language),
        "wanted": render(verdict.wanted, language),
        "why": render(one.why, language),
        "fix": None if verdict.fix is None else render(verdict.fix, language),
        "fix_command": verdict.fix_command,
        "evidence": list(verdict.evidence),
        "asked": report.asked(one),
        "waiver": _plain_waiver(one.waiver, needed=not one.passed),
    }


def _plain_waiver(waiver: Waived | None, *, needed: bool) -> dict[str, object] | None:
    if waiver is None:
        return None
    return {"name": waiver.name, "reason": waiver.reason, "made": waiver.made, "needed": needed}


def title_words(report: Report) -> Text:
    return say("Check of {host}", host=report.name)


def head(report: Report, language: str) -> list[tuple[Text, Text | str]]:
    """What a reader has to know first: label and value."""
    rows: list[tuple[Text, Text | str]] = [(say("Host"), report.name)]
    if report.way:
        rows.append((say("Reached at"), report.way))
    rows += [(say("Asked at"), report.moment(report.time)), (say("Compared with"), report.profile.title_in(language))]
    return [*rows, *((say("Own limit"), words) for words in changed_limits(report.profile))]


def markdown(reports: Sequence[Report], language: str) -> str:
    """One document about these hosts; whatever a host or a person said stays plain text in it."""
    return "\n".join(line for one in reports for line in _markdown(one, language)) + "\n"


def escaped(words: str) -> str:
    """`words` as plain text of one line for Markdown."""
    return SIGNS.sub(r"\\\1", " ".join(words.split()))


def _markdown(report: Report, language: str) -> Iterator[str]:
    def said(text: Text | str) -> str:
        return escaped(render(text, language) if isinstance(text, Text) else text)

    def standing(name: str) -> str:
        shape, word = STANDINGS[name]
        return f"{shape} {said(word)}"

    yield f"# {said(title_words(report))}\n"
    rows = head(report, language)
    yield f"| {said(rows[0][0])} | {said(rows[0][1])} |\n|---|---|"
    yield from (f"| {said(label)} | {said(value)} |" for label, value in rows[1:])
    counts = " · ".join(f"{standing(name)} {count}" for name, count in report.counts().items())
    yield f"| {said(say('Result'))} | {counts} |\n"
    for area, judged in report.areas():
        yield f"## {said(area)}\n"
        for one in judged:
            yield f"### {standing(one.standing)} · {said(one.title)}\n"
            yield from (f"- **{said(label)}** {said(value)}" for label, value in details(report, one))
            yield ""
            if one.verdict.fix_command and not one.passed:
                yield f"{_fenced(one.verdict.fix_command)}\n"


def details(report: Report, one: Judged) -> list[tuple[Text, Text | str]]:
    """Label and value of all there is to say about one check, but for the command of its fix."""
    verdict = one.verdict
    found: list[tuple[Text, Text | str]] = [
        (say("Seen"), verdict.seen),
        (say("Wanted"), verdict.wanted),
        (say("Why it matters"), one.why),
    ]
    if verdict.fix is not None and not one.passed:
        found.append((say("How to fix it"), verdict.fix))
    waiver = waiver_words(one, report.moment(one.waiver.made)) if one.waiver else None
    if waiver is not None:
        found.append((say("Waiver"), waiver))
    if report.asked(one) != max((report.times.get(name, report.time) for name in one.facts), default=report.time):
        found.append((say("Oldest answer"), report.moment(report.asked(one))))
    elif report.asked(one) != report.time:
        found.append((say("Asked again at"), report.moment(report.asked(one))))
    return found


def _fenced(command: str) -> str:
    """A block of code whose fence is longer than any run of backticks within."""
    longest = max((len(run) for run in re.findall(r"`+", command)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{command}\n{fence}"
