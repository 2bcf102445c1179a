"""The columns in which cards are listed, the same on the page, in a terminal, in CSV and in JSON."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from console.facts.holding import Use
from console.hosts.cards import Card
from console.sheet import sheet
from console.text import Text, say, verbatim

GIB = 2**30


@dataclass(frozen=True)
class Column:
    """`shown` gives the words of a card, None where they are not known; `field` names the reason in `Chip.why`."""

    field: str
    title: Text
    shown: Callable[[Card], Text | None]
    right: bool = False


USES = {Use.HELD: say("held"), Use.FREE: say("free"), Use.UNKNOWN: say("not known")}
UNHELD = {Use.FREE: say("free")}


def _words(value: object, unit: str = "") -> Text | None:
    return None if value is None else verbatim(f"{value:.1f}{unit}" if isinstance(value, float) else f"{value}{unit}")


def _hbm(card: Card) -> Text | None:
    used, total = card.chip.hbm_used_bytes, card.chip.hbm_total_bytes
    if total is None:
        return None
    return verbatim(f"{'–' if used is None else f'{used / GIB:.1f}'} / {total / GIB:.1f} GiB")


def _held(card: Card) -> Text | None:
    """Who holds the card; "free" only where it is known that nobody does."""
    if not card.chip.held:
        return UNHELD.get(card.chip.use)
    named = {f"h{number}": card.holder(one) for number, one in enumerate(card.chip.held)}
    return Text(", ".join(f"{{{name}}}" for name in named), named)


COLUMNS: Sequence[Column] = (
    Column("npu", say("card"), lambda card: None if card.chip.npu is None else verbatim(card.title)),
    Column("logic_id", say("logical"), lambda card: _words(card.chip.logic_id), right=True),
    Column("phy_id", say("physical"), lambda card: _words(card.chip.phy_id), right=True),
    Column("name", say("chip"), lambda card: _words(card.chip.name)),
    Column("hbm_total_bytes", say("HBM used / total"), _hbm, right=True),
    Column("aicore_pct", say("AICore"), lambda card: _words(card.chip.aicore_pct, " %"), right=True),
    Column("temp_c", say("temperature"), lambda card: _words(card.chip.temp_c, " °C"), right=True),
    Column("power_w", say("power"), lambda card: _words(card.chip.power_w, " W"), right=True),
    Column("health", say("health"), lambda card: _words(card.health)),
    Column("bus_id", say("bus id"), lambda card: _words(card.chip.bus_id)),
    Column("driver", say("driver"), lambda card: _words(card.chip.driver)),
    Column("held", say("held by"), _held),
)

_PLAIN = (
    "npu", "chip", "logic_id", "phy_id", "name", "hbm_used_bytes", "hbm_total_bytes", "aicore_pct", "temp_c",
    "power_w", "health", "bus_id", "driver",
)  # fmt: skip


def plain(card: Card) -> dict[str, object]:
    """As JSON: values that are not known are null, and `why` has their reasons in English."""
    chip = card.chip
    held = [
        {"pid": one.pid, "name": one.name, "container": one.container, "instance": card.instances.get(one.pid)}
        for one in chip.held
    ]
    return {
        "host": card.host.name,
        "simulated": card.host.scenario is not None,
        "tags": list(card.host.tags),
        **{name: getattr(chip, name) for name in _PLAIN},
        "error_codes": list(chip.errors),
        "use": str(chip.use),
        "held_by": held,
        "observed": card.time,
        "why": {name: str(text) for name, text in chip.why.items()},
    }


def csv(cards: Iterable[Card], speak: Callable[[Text], str]) -> bytes:
    """One row a card with plain numbers, units in the headings, and times as ISO 8601 in UTC."""
    heads = [
        say("host"), say("tags"), say("card"), say("logical"), say("physical"), say("chip"), say("HBM used (GiB)"),
        say("HBM total (GiB)"), say("AICore (%)"), say("temperature (°C)"), say("power (W)"), say("health"),
        say("bus id"), say("driver"), say("use"), say("held by"), say("observed (UTC)"), say("not known because"),
    ]  # fmt: skip
    return sheet([speak(one) for one in heads], (_row(card, speak) for card in cards))


def _row(card: Card, speak: Callable[[Text], str]) -> list[object]:
    chip = card.chip
    holders = "; ".join(speak(card.holder(one)) for one in chip.held)
    reasons = " ".join(dict.fromkeys(speak(text) for text in chip.why.values()))
    return [
        speak(card.host.label), " ".join(card.host.tags),
        None if chip.npu is None else card.title, chip.logic_id, chip.phy_id,
        chip.name, _gib(chip.hbm_used_bytes), _gib(chip.hbm_total_bytes), chip.aicore_pct, chip.temp_c, chip.power_w,
        card.health, chip.bus_id, chip.driver, speak(USES[chip.use]), holders,
        datetime.fromtimestamp(card.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), reasons,
    ]  # fmt: skip


def _gib(value: int | None) -> float | None:
    return None if value is None else round(value / GIB, 2)
