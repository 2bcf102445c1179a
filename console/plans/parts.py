"""Which installed parts do not go together, and the next package to fetch."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from console.catalog.ascend import Fit, order
from console.catalog.knowledge import Knowledge
from console.catalog.releases import Row, Variant, release_order
from console.plans.needs import bundle_files, cann_files
from console.plans.refusals import unsupported
from console.plans.target import Target, dotted, same_version
from console.text import Text, say

_RELEASE = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True)
class Conflict:
    """Two parts that do not go together: what is wrong, what fits, the files to fetch next, and where that stands."""

    code: str
    text: Text
    fetch: tuple[str, ...]
    source: str


def conflicts(target: Target, known: Knowledge) -> tuple[Conflict, ...]:
    """Every conflict among the parts of `target`, those of the lowest layer first; parts that are absent conflict with
    nothing."""
    return tuple(_Parts(target, known).conflicts())


def release_rows(known: Knowledge, part: str, version: str) -> list[Row]:
    """The releases that go with this version of a part (cann, vllm, torch or torch_npu), newest first."""
    return [row for row in known.rows if any(same_version(version, one) for one in values_of(row, part))]


def values_of(row: Row, part: str) -> tuple[str, ...]:
    if part in ("cann", "torch_npu", "triton_ascend"):
        return tuple(value for one in row.variants if (value := getattr(one, part)))
    return {"vllm": row.vllm, "torch": (row.torch,), "vllm_ascend": (row.vllm_ascend,)}[part]


@dataclass(frozen=True)
class _Parts:
    target: Target
    known: Knowledge

    def conflicts(self) -> Iterator[Conflict]:
        chip = self.known.called(self.target.chip)
        if chip is not None and not chip.supported:
            yield Conflict("chip_unsupported", unsupported(self.target.chip, chip.family), (), chip.source)
            return
        row = self._row()
        yield from self._driver(row)
        yield from self._alone(row)
        if row is not None:
            yield from self._python(row)
            yield from self._with_row(row, self._variant(row))
        elif self._pair_differs():
            yield self._torch_pair()

    def _row(self) -> Row | None:
        installed = self.target.parts.get("vllm_ascend")
        return next(iter(release_rows(self.known, "vllm_ascend", installed)), None) if installed else None

    def _variant(self, row: Row) -> Variant:
        """The variant of the CANN that is there, else the usual one."""
        cann = self.target.cann or ""
        return next((one for one in row.variants if same_version(one.cann, cann)), row.variants[0])

    def _family(self) -> str:
        chip = self.known.called(self.target.chip)
        return chip.family if chip else ""

    def _driver(self, row: Row | None) -> Iterator[Conflict]:
        """The driver against CANN: the one installed, else the one that the plugin needs."""
        cann = self.target.cann or (row.variants[0].cann if row else None)
        driver = self.target.driver
        rule = self.known.rule(cann) if cann else None
        if driver is None or cann is None or rule is None:
            return
        least = max((one for one in (rule.least, row.driver_least if row else None) if one), key=order)
        if rule.fit(driver) not in (Fit.TOO_OLD, Fit.EXCLUDED) and order(driver) >= order(least):
            return
        text = say(
            "Driver {driver} does not go with CANN {cann}, which needs {drivers}.",
            driver=driver,
            cann=cann,
            drivers=rule.words,
        )
        bundle = self.known.bundles.get((rule.fetch or "").lower())
        files = bundle_files(self.known, self._family(), self.target, bundle)
        yield Conflict("driver_cann", text, tuple(one.name for one in reversed(files)), rule.source)

    def _alone(self, row: Row | None) -> Iterator[Conflict]:
        """Parts that no release at all goes with."""
        parts, newest = self.target.parts, next(one for one in self.known.releases if one.stable)
        plugin = parts.get("vllm_ascend")
        if plugin and row is None:
            text = say(
                "There is no release {version} of vllm-ascend; near it are {near}.",
                version=plugin,
                near=", ".join(_near(plugin, [one.vllm_ascend for one in self.known.rows])),
            )
            yield Conflict("release_unknown", text, (), newest.source)
        vllm = parts.get("vllm")
        if vllm and row is None and not release_rows(self.known, "vllm", vllm):
            text = say(
                "No release of vllm-ascend is for vLLM {version}; near it are {near}.",
                version=vllm,
                near=", ".join(_near(vllm, [one for each in self.known.rows for one in each.vllm])),
            )
            yield Conflict("vllm_without_release", text, (f"vllm-{newest.vllm}.tar.gz",), newest.source)
        cann = self.target.cann
        if cann and row is None and not release_rows(self.known, "cann", cann):
            text = say(
                "No release of vllm-ascend is for CANN {version}; near it are {near}.",
                version=cann,
                near=", ".join(_near(cann, [one.cann for each in self.known.rows for one in each.variants])),
            )
            files = self._cann_files(newest.variants[0].cann)
            yield Conflict("cann_without_release", text, files, newest.source)
        if row is None and vllm:
            yield from self._with_vllm(vllm)

    def _with_vllm(self, vllm: str) -> Iterator[Conflict]:
        """Every part against vLLM without the plugin: each may have releases, but none for both.

        vLLM for CPUs brings a torch of its own, so torch counts only beside an NPU, or where no host is asked about.
        """
        rows = release_rows(self.known, "vllm", vllm)
        named = {**self.target.parts, **({"cann": self.target.cann} if self.target.cann else {})}
        beside_npu = bool(self.target.chip) or not self.target.system
        for part in ("cann", "torch", "torch_npu", "triton_ascend"):
            wanted = tuple(dict.fromkeys(value for row in rows for value in values_of(row, part)))
            found = named.get(part)
            if found is None or not wanted or any(same_version(found, one) for one in wanted):
                continue
            if part == "torch" and not beside_npu:
                continue
            text = say(
                "vLLM {vllm} goes with {part} {wanted} (vllm-ascend {plugin}), not with {part} {found}.",
                vllm=vllm,
                part=_TITLES[part],
                wanted=values_of(rows[0], part)[0] if values_of(rows[0], part) else wanted[0],
                plugin=rows[0].vllm_ascend,
                found=found,
            )
            files = self._cann_files(wanted[0]) if part == "cann" else (self._file(part, wanted[0]),)
            yield Conflict(f"vllm_{part}", text, files, rows[0].source)

    def _python(self, row: Row) -> Iterator[Conflict]:
        there = self.target.pythons
        if row.python is None or not there or any(row.python[0] <= one <= row.python[1] for one in there):
            return
        text = say(
            "vllm-ascend {version} is for Python {lowest} to {highest}; this host has {found}.",
            version=row.vllm_ascend,
            lowest=dotted(row.python[0]),
            highest=dotted(row.python[1]),
            found=", ".join(map(dotted, there)),
        )
        yield Conflict("python", text, (f"Python {dotted(row.python[1])}",), row.source)

    def _with_row(self, row: Row, variant: Variant) -> Iterator[Conflict]:
        """Every part against the release of the plugin that is installed."""
        wanted: dict[str, tuple[str, ...]] = {
            "cann": tuple(one.cann for one in row.variants),
            "torch": (row.torch,),
            "torch_npu": (variant.torch_npu,),
            "triton_ascend": (variant.triton_ascend,) if variant.triton_ascend else (),
            "vllm": row.vllm,
        }
        found = {**self.target.parts, **({"cann": self.target.cann} if self.target.cann else {})}
        for part, allowed in wanted.items():
            if part not in found or not allowed or any(same_version(found[part], one) for one in allowed):
                continue
            text = say(
                "vllm-ascend {version} goes with {part} {wanted}, not with {found}.",
                version=row.vllm_ascend,
                part=_TITLES[part],
                wanted=" / ".join(allowed),
                found=found[part],
            )
            fetch = self._cann_files(variant.cann) if part == "cann" else (self._file(part, allowed[0]),)
            yield Conflict(f"plugin_{part}", text, fetch, row.source)

    def _pair_differs(self) -> bool:
        one, other = (_RELEASE.match(self.target.parts.get(name, "")) for name in ("torch", "torch_npu"))
        return one is not None and other is not None and _three(one.group()) != _three(other.group())

    def _torch_pair(self) -> Conflict:
        torch, torch_npu = self.target.parts["torch"], self.target.parts["torch_npu"]
        wanted = ".".join(map(str, _three(torch_npu)))
        text = say(
            "torch-npu {torch_npu} goes with torch {wanted}, not with {torch}.",
            torch_npu=torch_npu,
            wanted=wanted,
            torch=torch,
        )
        return Conflict("torch_pair", text, (self._file("torch", wanted),), "Ascend/pytorch COMPATIBILITY.en.md")

    def _cann_files(self, cann: str) -> tuple[str, ...]:
        return tuple(one.name for one in cann_files(self.known, self._family(), self.target.arch, cann))

    def _file(self, part: str, version: str) -> str:
        package = part.replace("_", "-")
        if part == "vllm":
            return f"vllm-{version}.tar.gz"
        wheel = self.known.wheels.get((package, version))
        pythons = self.target.pythons or ((3, 11),)
        fitting = [one for one in pythons if wheel is None or wheel.pythons is None or one in wheel.pythons]
        if wheel is None or not fitting or (part == "torch" and self.target.arch == "x86_64"):
            return f"{package}=={version}{'+cpu' if part == 'torch' and self.target.arch == 'x86_64' else ''}"
        return wheel.file(max(fitting), self.target.arch)


_TITLES = {
    "cann": "CANN", "torch": "torch", "torch_npu": "torch-npu", "triton_ascend": "triton-ascend", "vllm": "vLLM",
}  # fmt: skip


def _three(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split("+")[0].split(".") if part.isdigit()][:3]
    return (*numbers, *[0] * (3 - len(numbers)))


def _near(version: str, versions: list[str]) -> list[str]:
    """Up to three versions around one that is not there, in order."""
    ordered = sorted(set(versions), key=release_order)
    at = sum(release_order(one) < release_order(version) for one in ordered)
    return ordered[max(0, at - 2) : at + 1] or ordered[:3]
