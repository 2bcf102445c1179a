"""Whether the entries of the catalog fit each other: what one names is there in another."""

from collections.abc import Iterator, Mapping
from typing import Any

from console.catalog.ascend import Fit, order, rules_of
from console.catalog.entries import Entry, Fault, Tree
from console.catalog.packages import cann_names_of, names_for
from console.catalog.releases import python_of, release_order
from console.text import Text, say

UNSUPPORTED = ("first", "edge")
"""Families of chips that no release is for."""


def reference_faults(tree: Tree) -> Iterator[Fault]:
    """Only meaningful for a tree whose fields are all right."""
    yield from _chips(tree)
    yield from _drivers(tree)
    for name in ("releases", "prereleases"):
        for entry in tree.entries[name].values():
            yield from _python_range(entry)
            yield from _canns(tree, entry)
    for entry in tree.entries["releases"].values():
        yield from _pins(tree, entry)
        yield from _release_chips(tree, entry)
        yield from _release_driver(tree, entry)
    yield from _wheels(tree)
    yield from _systems(tree)
    yield from _newest(tree)


def _fault(entry: Entry, field: str, problem: Text) -> Fault:
    return Fault(entry.file, f"{entry.section} {entry.key}", field, problem)


def _variants(entry: Entry) -> list[Mapping[str, Any]]:
    """A pre-release is written as one variant."""
    variants: list[Mapping[str, Any]] = entry.values.get("variants") or [entry.values]
    return variants


def _chips(tree: Tree) -> Iterator[Fault]:
    seen: dict[str, Entry] = {}
    for entry in tree.entries["chips"].values():
        family = entry.values["family"]
        if family not in tree.entries["families"] and family not in UNSUPPORTED:
            yield _fault(entry, "family", say("The section families has no {name}.", name=family))
        for name in (*entry.values["names"], *(entry.values.get("also") or ())):
            if name in seen and seen[name].file == entry.file:
                yield _fault(entry, "names", say("{name} is a name of two chips.", name=name))
            seen[name] = entry


def _drivers(tree: Tree) -> Iterator[Fault]:
    known = {key.lower() for key in tree.entries["driver_files"]}
    for rule, entry in zip(rules_of(tree), tree.entries["driver_for_cann"].values(), strict=True):
        if not rule.compatible and not rule.paired:
            yield _fault(entry, "compatible", say("Either compatible or paired has to name a driver."))
        elif rule.fetch is not None and rule.fetch.lower() not in known:
            yield _fault(entry, "fetch", say("The section driver_files has no {name}.", name=rule.fetch))
        elif rule.fetch is not None and rule.fit(rule.fetch) is not Fit.FITS:
            yield _fault(entry, "fetch", say("Driver {name} does not fit this entry itself.", name=rule.fetch))


def _python_range(entry: Entry) -> Iterator[Fault]:
    between = entry.values["python"]
    if between is not None and python_of(between[0]) > python_of(between[1]):
        yield _fault(entry, "python", say("The lowest version is above the highest."))


def _canns(tree: Tree, entry: Entry) -> Iterator[Fault]:
    names = cann_names_of(tree)
    for one in _variants(entry):
        if one["cann"] not in tree.entries["cann"]:
            yield _fault(entry, "cann", say("The section cann has no {name}.", name=one["cann"]))
        elif names_for(names, one["cann"]) is None:
            yield _fault(entry, "cann", say("No entry of cann_names is for CANN {name}.", name=one["cann"]))


def _pins(tree: Tree, entry: Entry) -> Iterator[Fault]:
    for one in _variants(entry):
        wanted = {"vllm-ascend": entry.key, "torch": entry.values["torch"], "torch-npu": one["torch_npu"]}
        if one.get("triton_ascend"):
            wanted["triton-ascend"] = one["triton_ascend"]
        for package, version in wanted.items():
            if f"{package} {version}" not in tree.entries["wheels"]:
                field = package.replace("-", "_")
                problem = say("The section wheels has no {package} {version}.", package=package, version=version)
                yield _fault(entry, field, problem)
        if one["torch_npu"].split(".")[:2] != entry.values["torch"].split(".")[:2]:
            yield _fault(entry, "torch_npu", say("torch-npu and torch have to be of one release."))


def _release_chips(tree: Tree, entry: Entry) -> Iterator[Fault]:
    families = tree.entries["families"].keys()
    named = {"chips": entry.values["chips"], "image": entry.values["image"]["suffix"]}
    named["variants"] = [chip for one in _variants(entry) for chip in one.get("chips", ())]
    for field, chips in named.items():
        for chip in chips:
            if chip not in families:
                yield _fault(entry, field, say("The section families has no {name}.", name=chip))


def _release_driver(tree: Tree, entry: Entry) -> Iterator[Fault]:
    known = {key.lower() for key in tree.entries["driver_files"]}
    rules = {rule.cann.lower(): rule for rule in rules_of(tree)}
    least, own = entry.values.get("driver_least"), entry.values.get("driver_fetch")
    if own is not None and own.lower() not in known:
        yield _fault(entry, "driver_fetch", say("The section driver_files has no {name}.", name=own))
    for one in _variants(entry):
        rule = rules.get(one["cann"].lower()) or rules.get(".".join(one["cann"].split(".")[:2]))
        fetch = own or (rule.fetch if rule else None)
        if rule is not None and own is not None and rule.fit(own) is not Fit.FITS:
            problem = say("Driver {name} does not fit CANN {cann}.", name=own, cann=one["cann"])
            yield _fault(entry, "driver_fetch", problem)
        if fetch is not None and least is not None and order(fetch) < order(least):
            problem = say("Driver {name} would be fetched, which is older than this.", name=fetch)
            yield _fault(entry, "driver_least", problem)


def _wheels(tree: Tree) -> Iterator[Fault]:
    for entry in tree.entries["wheels"].values():
        tags, pythons = entry.values.get("tags"), entry.values.get("pythons")
        is_known = entry.values["where"] == "pypi"
        if is_known and (tags is None or pythons is None or bool(tags) != bool(pythons)):
            yield _fault(entry, "tags", say("What lies on PyPI has tags and pythons, or both empty (source only)."))
        for arch, tag in (tags or {}).items():
            if not tag.endswith(f"_{arch}"):
                yield _fault(entry, "tags", say("The tag {tag} is not of {arch}.", tag=tag, arch=arch))


def _systems(tree: Tree) -> Iterator[Fault]:
    for entry in tree.entries["systems"].values():
        for chip in entry.values["chips"]:
            if chip not in tree.entries["families"]:
                yield _fault(entry, "chips", say("The section families has no {name}.", name=chip))
        if "venv" not in entry.values["routes"] and not entry.values.get("why"):
            yield _fault(entry, "why", say("Say why a way is missing among its routes."))


def _newest(tree: Tree) -> Iterator[Fault]:
    """Only the newest pre-release is offered, and it must be newer than every stable release."""
    offered = tree.entries["releases"].values()
    newest = max((release_order(entry.key) for entry in offered), default=None)
    for entry in offered:
        if not entry.values["stable"] and release_order(entry.key) != newest:
            yield _fault(entry, "stable", say("A pre-release that is not the newest belongs into prereleases."))
