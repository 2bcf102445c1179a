"""Whether the parts that are installed on a host go together, and which package to fetch if they do not."""

from console.catalog.knowledge import known
from console.checks.check import Level, Verdict, check
from console.errors import InvalidInput
from console.facts.npu_presence import NpuTool, PciNpu
from console.facts.os_release import OsRelease
from console.facts.packages import Packages
from console.facts.probe import Facts
from console.facts.pythons import Python
from console.facts.versions import VersionFile
from console.plans.parts import Conflict, conflicts
from console.plans.target import Target, dotted, of_facts
from console.text import Text, say, verbatim

LONE = ("release_unknown", "vllm_without_release", "cann_without_release")
"""No part speaks against another, but no release is known for one of them."""


@check(
    area="driver",
    title=say("Installed versions together"),
    why=say(
        "Driver, CANN, torch, torch-npu, vLLM and vllm-ascend fit in certain releases only. A conflict shows late: as "
        "an import error, or as a failure in the first request."
    ),
)
def installed_parts_fit(
    packages: Packages | None,
    cann_toolkit: VersionFile | None,
    driver_version: VersionFile | None,
    arch: str,
    npu_tool: NpuTool | None = None,
    npu_pci: tuple[PciNpu, ...] = (),
    firmware_version: VersionFile | None = None,
    pythons: tuple[Python, ...] = (),
    os_release: OsRelease | None = None,
) -> Verdict:
    target = of_facts(Facts(dict(locals())))  # the parameters are named like their facts
    wanted = say("Releases that go together, or none yet")
    shown = verbatim(", ".join(_installed(target)))
    if not _installed(target):
        return Verdict(Level.PASS, say("Nothing is installed that could be in conflict"), wanted)
    try:
        found = conflicts(target, known())
    except InvalidInput as error:
        return Verdict(Level.UNKNOWN, error.text, wanted, say("Mend the catalog, then look again."))
    if not found:
        return Verdict(Level.PASS, shown, wanted)
    level = Level.WARN if all(one.code in LONE for one in found) else Level.FAIL
    evidence = (*_installed(target), *dict.fromkeys(one.source for one in found))
    return Verdict(level, _all([one.text for one in found]), wanted, _fix(found), evidence=evidence)


def _installed(target: Target) -> list[str]:
    """The parts with their versions, driver first."""
    lower = {"driver": target.driver, "firmware": target.firmware, "CANN": target.cann}
    found = [f"{name} {version}" for name, version in lower.items() if version]
    found += [f"{name.replace('_', '-')} {version}" for name, version in target.parts.items()]
    if found and target.pythons:
        found.append("Python " + ", ".join(map(dotted, target.pythons)))
    return found


def _fix(found: tuple[Conflict, ...]) -> Text:
    """The next package, of the lowest layer that is in conflict."""
    if found[0].code == "chip_unsupported":
        return say("Use cards that vLLM Ascend supports; nothing that can be installed helps here.")
    files = next((one.fetch for one in found if one.fetch), ())
    if not files:
        return say("Let the console choose releases that go together, and install them into a fresh environment.")
    return say("Fetch next, and install in this order: {files}", files=verbatim(", ".join(files)))


def _all(texts: list[Text]) -> Text:
    first, *rest = texts
    return say("{first} {rest}", first=first, rest=_all(rest)) if rest else first
