"""Checks of how cards are: health, temperature, power and memory errors."""

import re

from console.catalog.profiles import Profile
from console.checks.card_words import DRIVER_FIRST, chips, idle, median_of_others, silent, title
from console.checks.check import Level, Verdict, check
from console.facts.cards import Cards
from console.facts.npu_presence import NpuTool
from console.facts.npu_smi_reading import Device
from console.text import Text, say, verbatim

SERIOUS = frozenset({"alarm", "critical"})
_TOO_HOT = re.compile(r"0x000E003B|over[ -]?temp|temperature|过温|温度", re.IGNORECASE)
"""The over-temperature event in the vendor's list of alarms (OM SDK user guide), or its words."""


@check(
    area="npu",
    title=say("Health"),
    why=say("A card with an alarm computes wrongly, slowly or not at all; the driver may take it away at any time."),
)
def cards_healthy(npu_tool: NpuTool, npu_health: Cards | None = None) -> Verdict:
    wanted = say("OK for every chip")
    if verdict := silent(npu_tool, wanted):
        return verdict
    states = _states(npu_tool, npu_health)
    sick = {name: words for name, words in states.items() if words.lower() != "ok"}
    if not sick:
        return Verdict(Level.PASS, say("OK for {count} chips", count=len(states)), wanted)
    evidence = tuple(f"{name}: {words} {_codes(name, npu_health)}".strip() for name, words in sick.items())
    fix = say(
        "Look the error code up in the vendor's list of faults. Restart the host; if the state comes back, have the "
        "card looked at or replaced."
    )
    level = Level.FAIL if any(words.lower() in SERIOUS for words in sick.values()) else Level.WARN
    number = next(iter(sick)).split()[1]
    command = f"npu-smi info -t health -i {number}"
    return Verdict(level, verbatim("; ".join(evidence)), wanted, fix, command, evidence)


def _states(npu_tool: NpuTool, npu_health: Cards | None) -> dict[str, str]:
    """The state of each chip; where the table says OK and the query does not, the query counts."""
    asked = npu_health.each("health") if npu_health else {}
    found = {}
    for one in chips(npu_tool):
        words = [str(word) for word in asked.get(one.npu, ()) if word and str(word).lower() != "ok"]
        own = one.health or "UNKNOWN"
        found[title(one, chips(npu_tool))] = words[0] if own.lower() == "ok" and words else own
    return found


def _codes(name: str, npu_health: Cards | None) -> str:
    answer = npu_health.answers.get(int(name.split()[1])) if npu_health else None
    if answer is None:
        return ""
    codes = answer.values.get("error_codes")
    words = [str(code) for code in codes] if isinstance(codes, list) else []
    return " ".join([*words, str(answer.values.get("error_information") or "")]).strip()


@check(
    area="npu",
    title=say("Temperature"),
    why=say("A card that is too hot slows down or raises an alarm; in the end it may switch itself off."),
    slack=0.25,
)
def card_temperature(npu_tool: NpuTool, profile: Profile, npu_health: Cards | None = None) -> Verdict:
    usual, margin = profile.number("idle_temperature_c"), profile.number("idle_temperature_margin_c")
    wanted = say("No alarm, and idle chips at about {usual} °C or less and alike", usual=usual)
    if verdict := silent(npu_tool, wanted):
        return verdict
    known = [(one, one.temp_c) for one in chips(npu_tool) if one.temp_c is not None]
    if not known:
        fix = say("Check again, and look at the raw output.")
        return Verdict(Level.UNKNOWN, say("npu-smi tells no temperature"), wanted, fix)
    seen = verbatim(_range([celsius for _, celsius in known], "°C"))
    alarmed = [(one, celsius) for one, celsius in known if _alarm(one, celsius, npu_health, usual + margin)]
    if alarmed:
        return _hot(alarmed, seen, wanted, Level.FAIL, npu_tool)
    resting = [(one, one.temp_c) for one in idle(npu_tool) if one.temp_c is not None]
    values = [celsius for _, celsius in resting]
    odd = [
        pair
        for index, pair in enumerate(resting)
        if pair[1] > usual + margin or _above(values, index, profile.number("idle_temperature_apart_c"))
    ]
    if odd:
        return _hot(odd, seen, wanted, Level.WARN, npu_tool)
    return Verdict(Level.PASS, seen, wanted)


def _alarm(one: Device, celsius: float, npu_health: Cards | None, limit: float) -> bool:
    """Whether the card itself complains, and temperature is named or plain to see."""
    is_named = bool(_TOO_HOT.search(_codes(f"NPU {one.npu}", npu_health)))
    return is_named or ((one.health or "OK").lower() != "ok" and celsius > limit)


def _above(values: list[float], index: int, apart: float) -> bool:
    others = median_of_others(values, index)
    return others is not None and values[index] >= others + apart


def _hot(hot: list[tuple[Device, float]], seen: Text, wanted: Text, level: Level, npu_tool: NpuTool) -> Verdict:
    evidence = tuple(f"{title(one, chips(npu_tool))}: {celsius:g} °C" for one, celsius in hot)
    fix = say(
        "Raise the fan curve in the BMC and clear the airflow: dust, blanking panels, cables, warm room. Cards without "
        "fans need a server that blows through them, and liquid cooling where air does not suffice."
    )
    shown = say("{range}; too warm: {cards}", range=seen, cards=verbatim(", ".join(evidence)))
    return Verdict(level, shown, wanted, fix, f"npu-smi info -t common -i {hot[0][0].npu}", evidence)


@check(
    area="npu",
    title=say("Power"),
    why=say("An idle card that draws no power, or much more than its neighbours, is badly supplied or stuck."),
    slack=0.25,
)
def card_power(npu_tool: NpuTool, profile: Profile) -> Verdict:
    wanted = say("Idle cards draw some power, and about the same")
    if verdict := silent(npu_tool, wanted):
        return verdict
    known = [one.power_w for one in chips(npu_tool) if one.power_w is not None]
    if not known:
        fix = say("Nothing has to be done if this chip never tells its power, as some inference cards do.")
        return Verdict(Level.UNKNOWN, say("npu-smi tells no power"), wanted, fix)
    seen = verbatim(_range(known, "W"))
    resting = [one for one in idle(npu_tool) if one.power_w is not None]
    values = [one.power_w or 0.0 for one in resting]
    ratio = profile.number("idle_power_ratio")
    odd = [
        title(one, chips(npu_tool))
        for index, one in enumerate(resting)
        if not values[index] or values[index] > ratio * (median_of_others(values, index) or values[index])
    ]
    if not odd:
        return Verdict(Level.PASS, seen, wanted)
    shown = say("{range}; unlike the others: {cards}", range=seen, cards=", ".join(odd))
    fix = say("Check the power cables and supplies, restart the host, and see whether a process hides on the card.")
    return Verdict(Level.WARN, shown, wanted, fix, "npu-smi info", tuple(odd))


@check(
    area="npu",
    title=say("Memory errors of the cards"),
    why=say("Double-bit errors cannot be corrected: they end the process, or spoil what it computes."),
)
def card_ecc(npu_ecc: Cards | None) -> Verdict:
    wanted = say("No errors")
    if npu_ecc is None:
        return Verdict(Level.UNKNOWN, say("npu-smi is not installed"), wanted, DRIVER_FIRST)
    counts = {
        (card, name): value
        for card, answer in npu_ecc.answers.items()
        for chip in answer.chips
        for name, value in chip.items()
        if isinstance(value, int) and name not in ("npu", "chip") and value
    }
    if not counts:
        return Verdict(Level.PASS, say("None on {count} cards", count=len(npu_ecc.answers)), wanted)
    evidence = tuple(f"NPU {card}: {name} {value}" for (card, name), value in counts.items())
    is_serious = any(name.endswith("double_bit") for _, name in counts)
    fix = say("Corrected and old errors need no action while they do not grow. Watch them, and keep the figures.")
    if is_serious:
        fix = say("Restart the host, so that bad pages are set aside. If new errors come, have the card replaced.")
    level = Level.FAIL if is_serious else Level.WARN
    command = f"npu-smi info -t ecc -i {next(iter(counts))[0]}"
    return Verdict(level, verbatim("; ".join(evidence)), wanted, fix, command, evidence)


def _range(values: list[float], unit: str) -> str:
    low, high = min(values), max(values)
    return f"{low:g} {unit}" if low == high else f"{low:g} – {high:g} {unit}"
