"""Why not this combination? Free words, matched by their versions and flags with claims, traps and releases."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from console.catalog.claims import FLAGS
from console.catalog.knowledge import Knowledge
from console.catalog.releases import Release, Row, Variant, python_of
from console.errors import InvalidInput
from console.plans.parts import Conflict, conflicts, values_of
from console.plans.resolve import Note, Resolution, Stack, in_language
from console.plans.target import Target, dotted, same_version
from console.text import say, verbatim

LONGEST = 2000
ANY_ARCH = "<arch>"
"""Stands in file names where the question is about no host."""
_BETWEEN = r"[^\w\n]{0,4}(?:version|ver|release)?[^\w\n]{0,4}v?"
_NUMBER = r"(\d+(?:\.\w+)+(?:\+\w+)?)"
_NAMED: Mapping[str, re.Pattern[str]] = {
    part: re.compile(pattern, FLAGS)
    for part, pattern in {
        "vllm_ascend": rf"(?<![a-z0-9])vllm[-_ ]?ascend{_BETWEEN}{_NUMBER}",
        "vllm": rf"(?<![a-z0-9])vllm(?![-_ ]?ascend){_BETWEEN}{_NUMBER}",
        "cann": rf"(?<![a-z0-9])cann(?:[-_](?:toolkit|nnal|kernels)\w*)?{_BETWEEN}(\d+(?:\.\w+)*)",
        "torch_npu": rf"(?<![a-z0-9])torch[-_ ]?npu{_BETWEEN}{_NUMBER}",
        "torch": rf"(?<![a-z0-9])(?:py)?torch(?![-_ ]?npu){_BETWEEN}{_NUMBER}",
        "triton_ascend": rf"(?<![a-z0-9])triton[-_ ]?ascend{_BETWEEN}{_NUMBER}",
        "python": rf"(?<![a-z0-9])(?:python|py){_BETWEEN}(3\.\d+)",
        "driver": rf"(?:(?<![a-z0-9])(?:driver|hdk)|驱动){_BETWEEN}{_NUMBER}",
    }.items()
}
_CHIP = re.compile(r"(?<![\w.-])((?:ascend)?(?:910|310|950)[\w-]*)", FLAGS)
_PLAIN_910B = re.compile(r"(?<![\w.-])(?:ascend\s?)?910b(?![\w-])", FLAGS)


@dataclass(frozen=True)
class Answer:
    """One thing that was found.

    kind      claim, trap, conflict, refused, chip, unlisted or fits
    verdict   of a claim (false, outdated, ...); "fits" where nothing is wrong; else "wrong"
    about     what was asked, as the catalog puts it, or the part it is about
    """

    kind: str
    code: str
    verdict: str
    about: Note
    finding: Note
    instead: Note
    source: str
    verified: bool = True

    def plain(self) -> dict[str, object]:
        """For JSON."""
        notes = {name: in_language(getattr(self, name), "en") for name in ("about", "finding", "instead")}
        own = {"kind": self.kind, "code": self.code, "verdict": self.verdict}
        return {**own, **notes, "source": self.source, "verified": self.verified}


@dataclass(frozen=True)
class WhyNot:
    """The question, the versions and chips understood in it, and the answers."""

    asked: str
    versions: Mapping[str, str]
    chips: tuple[str, ...]
    answers: tuple[Answer, ...] = field(default=())

    def plain(self) -> dict[str, object]:
        """For JSON."""
        understood = {**self.versions, **({"chips": list(self.chips)} if self.chips else {})}
        return {"asked": self.asked, "understood": understood, "answers": [one.plain() for one in self.answers]}


def versions_in(text: str) -> dict[str, str]:
    """The parts named with a version, by the catalog's names; the first mention counts."""
    found = {part: pattern.search(text) for part, pattern in _NAMED.items()}
    return {part: match.group(1) for part, match in found.items() if match}


def why_not(text: str, known: Knowledge, resolution: Resolution | None = None) -> WhyNot:
    """Every answer to a question in free words; `resolution` is of the host it is about, if there is one.

    Raises InvalidInput for an empty or far too long question.
    """
    if not text.strip() or len(text) > LONGEST:
        raise InvalidInput(say("Ask in up to {count} characters, such as: CANN 6.3.0 + vLLM 0.3.1", count=LONGEST))
    versions = versions_in(text)
    chips = tuple(dict.fromkeys(one for one in _CHIP.findall(text) if known.called(one)))
    asking = _Asking(text, versions, chips, known, resolution)
    return WhyNot(text, versions, chips, tuple(asking.answers()))


@dataclass(frozen=True)
class _Asking:
    text: str
    versions: Mapping[str, str]
    chips: tuple[str, ...]
    known: Knowledge
    resolution: Resolution | None

    def answers(self) -> Iterator[Answer]:
        found = [*self._claims(), *self._traps(), *self._chips(), *self._conflicts(), *self._refused()]
        yield from found
        if self.versions and not any(one.kind in ("conflict", "refused") or one.verdict == "false" for one in found):
            yield from self._together()

    def _claims(self) -> Iterator[Answer]:
        for one in self.known.claims:
            if one.fits(self.text, self.versions):
                words = (one.claim, one.finding, one.instead)
                yield Answer("claim", one.id, one.verdict, *words, one.source, one.verified)

    def _traps(self) -> Iterator[Answer]:
        newest = self._newest()
        values = {"vllm": newest.vllm, "vllm_ascend": newest.vllm_ascend, "cann": "", "driver_wished": ""}
        for one in self.known.traps:
            if one.fits(self.text, self.versions):
                words = {language: said.format(**values) for language, said in one.text.items()}
                yield Answer(
                    "trap", one.id, "wrong", verbatim(one.id), words, self._instead(), one.source, one.verified
                )

    def _chips(self) -> Iterator[Answer]:
        if not _PLAIN_910B.search(self.text):
            return
        chip = self.known.called("910B")
        finding = say(
            "npu-smi calls the chips that are supported 910B1 to 910B4. A card that it calls 910B, without a digit, is "
            "of the first generation, and vLLM Ascend does not run on it."
        )
        instead = say("Look at the column Name of npu-smi info, and compare the whole word.")
        yield Answer(
            "chip", "plain_910b", "misleading", verbatim("910B"), finding, instead, chip.source if chip else ""
        )

    def _conflicts(self) -> Iterator[Answer]:
        target = self._target()
        found = list(conflicts(target, self.known))
        if not found and target.driver and target.cann is None:
            variant = self._newest().variants[0]
            found = list(conflicts(replace(target, cann=variant.cann), self.known))
        for one in found:
            yield Answer("conflict", one.code, "wrong", self._about(), one.text, self._instead(one), one.source)
        if (python := self.versions.get("python")) and not any(one.code == "python" for one in found):
            yield from self._python(python_of(python))

    def _python(self, python: tuple[int, int]) -> Iterator[Answer]:
        stable = [one for one in self.known.releases if one.stable]
        if any(one.python[0] <= python <= one.python[1] for one in stable) or "vllm_ascend" in self.versions:
            return
        newest = self._newest()
        finding = say(
            "No stable release of vllm-ascend is for Python {found}; {version} is for {lowest} to {highest}.",
            found=dotted(python),
            version=newest.vllm_ascend,
            lowest=dotted(newest.python[0]),
            highest=dotted(newest.python[1]),
        )
        yield Answer("conflict", "python", "wrong", self._about(), finding, self._instead(), newest.source)

    def _refused(self) -> Iterator[Answer]:
        """What was asked for is a release, and it does not go on this host."""
        wanted = self.versions.get("vllm_ascend")
        for one in self.resolution.refused if self.resolution else ():
            if one.release.vllm_ascend == wanted:
                about = say("vllm-ascend {version} by {route}", version=wanted, route=one.route)
                words = {language: one.words(language) for language in ("en", "zh")}
                source = one.release.source
                yield Answer("refused", one.reason.code, "wrong", about, words, self._instead(), source)

    def _together(self) -> Iterator[Answer]:
        """Nothing is wrong with what was named: say what goes with it, if one release has all of it."""
        named = [one for one in ("vllm_ascend", "vllm", "cann", "torch_npu", "torch", "triton_ascend")
                 if one in self.versions]  # fmt: skip
        if not named:
            return
        sets = [(row, one) for row in self.known.rows for one in row.variants if self._holds(row, one, named)]
        stable = {one.vllm_ascend for one in self.known.releases if one.stable}
        row, variant = next((one for one in sets if one[0].vllm_ascend in stable), sets[0] if sets else (None, None))
        if row is None or variant is None:
            finding = say(
                "No release of vllm-ascend in the catalog names all of these versions together, so nobody vouches "
                "for them. A version that one of them goes with may be another build than the one that was asked about."
            )
            yield Answer(
                "unlisted", "unlisted", "unverifiable", self._about(), finding, self._instead(), self._newest().source
            )
            return
        finding = say(
            "The catalog has nothing against it. What goes together: vllm-ascend {plugin}, vLLM {vllm}, CANN {cann}, "
            "torch {torch}, torch-npu {torch_npu}.",
            plugin=row.vllm_ascend,
            vllm=" / ".join(row.vllm),
            cann=variant.cann,
            torch=row.torch,
            torch_npu=variant.torch_npu,
        )
        yield Answer("fits", "fits", "fits", self._about(), finding, self._instead(), row.source)

    def _holds(self, row: Row, variant: Variant, named: Sequence[str]) -> bool:
        """Whether one variant of a release has every version that was named."""
        only = replace(row, variants=(variant,))
        return all(any(same_version(self.versions[part], one) for one in values_of(only, part)) for part in named)

    def _target(self) -> Target:
        """The host, if there is one, with what was named instead of what is installed."""
        chips = [one for one in self.chips if not _PLAIN_910B.fullmatch(one)]  # that word has an answer of its own
        host = self.resolution.target if self.resolution else Target(chips[0] if chips else "", ANY_ARCH)
        names = ("vllm_ascend", "vllm", "torch", "torch_npu", "triton_ascend")
        python = self.versions.get("python")
        return replace(
            host,
            driver=self.versions.get("driver", host.driver if "cann" in self.versions else None),
            cann=self.versions.get("cann"),
            pythons=(python_of(python),) if python else (),
            parts={name: self.versions[name] for name in names if name in self.versions},
        )

    def _about(self) -> Note:
        versions = [f"{part.replace('_', '-')} {version}" for part, version in self.versions.items()]
        return verbatim(", ".join([*versions, *self.chips]))

    def _newest(self) -> Release:
        return next(one for one in self.known.releases if one.stable)

    def _instead(self, conflict: Conflict | None = None) -> Note:
        """The files that mend a conflict, if it is about a release that exists; else the best stack there is."""
        if conflict and conflict.fetch and conflict.code in ("driver_cann", *_MENDABLE):
            return say("Fetch next: {files}", files=verbatim(", ".join(conflict.fetch)))
        best = self.resolution.stacks[0] if self.resolution and self.resolution.stacks else None
        return _stack_words(best) if best else _release_words(self._newest())


_PARTS = ("vllm", "cann", "torch", "torch_npu", "triton_ascend")
_MENDABLE = (*(f"plugin_{part}" for part in _PARTS), *(f"vllm_{part}" for part in _PARTS))


def _stack_words(stack: Stack) -> Note:
    return say(
        "For this host: vllm-ascend {plugin} with vLLM {vllm} on CANN {cann}, by {route}.",
        plugin=stack.release.vllm_ascend,
        vllm=stack.release.vllm,
        cann=stack.variant.cann,
        route=stack.route,
    )


def _release_words(release: Release) -> Note:
    variant = release.variants[0]
    return say(
        "The newest stable set: vllm-ascend {plugin}, vLLM {vllm}, CANN {cann}, torch {torch}, torch-npu {torch_npu}.",
        plugin=release.vllm_ascend,
        vllm=release.vllm,
        cann=variant.cann,
        torch=release.torch,
        torch_npu=variant.torch_npu,
    )
