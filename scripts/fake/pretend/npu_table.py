"""The table of `npu-smi info`, in the widths of drivers up to 25.x and of those from 26 on."""

from __future__ import annotations

from types import SimpleNamespace

from pretend.cards import Chip, Process


class Widths(SimpleNamespace):
    """Columns inside the third cell, of the title, and of the process cells behind the second."""

    figures: tuple[int, int, int]
    title: int
    process: tuple[str, ...]

    @property
    def third(self) -> int:
        return 1 + sum(self.figures)

    @property
    def inner(self) -> int:
        return 27 + 1 + 15 + 1 + self.third


NARROW = Widths(figures=(12, 18, 21), title=33, process=(" Process name             ", " Process memory(MB)      "))
WIDE = Widths(
    figures=(21, 24, 24),
    title=44,
    process=(" Process name       ", " Process memory(MB)    ", " Process id in container "),
)


def table(version: str, chips: list[Chip], has_dies: bool) -> str:
    """All chips, then all processes; `version` is the driver's."""
    widths = WIDE if int(version.split(".")[0]) >= 26 else NARROW
    thin, thick = _rule(widths, "-"), _rule(widths, "=")
    whole = "+" + "-" * widths.inner + "+"
    title = f" {f'npu-smi {version}':<{widths.title}}Version: {version}"
    rows = [whole, f"|{title:<{widths.inner}}|", thin]
    rows += [_row(widths, "NPU", "Name", "Health", "Power(W)", "Temp(C)", "Hugepages-Usage(page)")]
    rows += [
        _row(widths, "Chip", "Phy-ID" if has_dies else "", "Bus-Id", "AICore(%)", "Memory-Usage(MB)", "HBM-Usage(MB)")
    ]
    rows.append(thick)
    for one, after in zip(chips, [*chips[1:], None], strict=True):
        power = "-" if one.power_w is None else f"{one.power_w:.1f}"
        rows.append(_row(widths, str(one.npu), one.name, one.health, power, str(one.temp_c), "0    / 0"))
        hbm = f"{one.hbm_used_mb:<5}/ {one.hbm_total_mb}"
        node = str(one.node) if has_dies else ""
        rows.append(_row(widths, str(one.chip), node, one.bus, str(one.aicore_pct), "0    / 0", hbm))
        rows.append(whole if after is not None and after.npu == one.npu else thick)
    rows += [thin, "|" + "|".join((f" {'NPU':<8}{'Chip':<18}", " Process id    ", *widths.process)) + "|", thick]
    for npu in dict.fromkeys(one.npu for one in chips):
        held = [process for one in chips if one.npu == npu for process in one.processes]
        rows += [_process(widths, one) for one in held]
        rows += [] if held else [f"| {f'No running processes found in NPU {npu}':<{widths.inner - 1}}|"]
        rows.append(thick)
    return "\n".join(rows)


def _rule(widths: Widths, sign: str) -> str:
    return "+" + sign * 27 + "+" + sign * 15 + "+" + sign * widths.third + "+"


def _row(widths: Widths, *cells: str) -> str:
    first, second, third, *figures = cells
    spread = "".join(f"{cell:<{width}}" for cell, width in zip(figures, widths.figures, strict=True))
    return f"| {first:<6}{second:<20}| {third:<14}| {spread}|"


def _process(widths: Widths, one: Process) -> str:
    cells = [one.name, str(one.mem_mb), "NA"][: len(widths.process)]
    spread = "|".join(f" {cell:<{len(width) - 1}}" for cell, width in zip(cells, widths.process, strict=True))
    return f"| {one.npu:<8}{one.chip:<18}| {one.pid:<14}|{spread}|"
