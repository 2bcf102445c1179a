"""`npu-smi`: the table, the lists, the queries of one NPU, the running view, and settings that harm nothing."""

from __future__ import annotations

import sys
import time

from pretend import cards, fresh, npu_query, npu_table, place, users
from pretend.cards import Chip

USAGE = """Usage: npu-smi {info|set|upgrade|clear} [OPTION...]
       npu-smi info [-l | -m | -t TYPE [-i NPU] [-c CHIP] | watch]
"""
QUERIES = ("board", "common", "ecc", "health", "memory", "power", "temp", "usages")
MOVING = ("common", "memory", "power", "usages")
"""Queries whose answers change with the load; all of them are answered by one look."""
SETTINGS = ("pwm-mode", "pwm-duty-ratio", "ecc-enable", "p2p-mem-cfg", "cpu-num-cfg")


def main(name: str, words: list[str]) -> int:
    if words in (["-v"], ["--version"]):
        print(f"npu-smi version: {cards.driver().get('running') or cards.driver().get('driver')}")
        return 0
    if not words or words[0] not in ("info", "set"):
        print(USAGE, end="")
        return 0 if words[:1] in (["-h"], ["--help"]) else 1
    if trouble := cards.trouble():
        print(trouble)
        return 1
    return _set(words[1:]) if words[0] == "set" else _info(words[1:])


def _info(words: list[str]) -> int:
    played = place.scenario()
    asked = _options(words)
    if words[:1] == ["watch"]:
        return _watch(played)
    is_moving = not words or asked.get("t") in MOVING
    chips = cards.now(played) if is_moving else cards.idle(played)
    has_dies = played["chip"].get("dies", 1) > 1
    if is_moving:
        _mark(chips)
        texts = _moving(played, chips, has_dies)
        fresh.write("npu-smi", texts)
    if not words:
        print(texts["info"])
    elif words == ["-l"]:
        print(npu_query.listing(chips))
    elif words == ["-m"]:
        print(npu_query.mapping(chips, has_dies))
    else:
        return _query(played, chips, asked)
    return 0


def _mark(chips: list[Chip]) -> None:
    """Let processes of containers say in their cgroup which one they are in: a container may have started new ones."""
    if pids := [process.pid for one in chips for process in one.processes]:
        from pretend import boxes

        boxes.mark_all(pids)


def _moving(played: place.Data, chips: list[Chip], has_dies: bool) -> dict[str, str]:
    """The answers that change with the load, by the words of the question."""
    texts = {"info": npu_table.table(str(cards.driver()["running"]), chips, has_dies)}
    for npu in dict.fromkeys(one.npu for one in chips):
        own = [one for one in chips if one.npu == npu]
        for kind in MOVING:
            texts[f"info -t {kind} -i {npu}"] = _answer(kind, played, own, is_chip=False)
    return texts


def _options(words: list[str]) -> dict[str, str]:
    return {word.lstrip("-"): words[at + 1] for at, word in enumerate(words[:-1]) if word.startswith("-")}


def _query(played: place.Data, chips: list[Chip], asked: dict[str, str]) -> int:
    kind = asked.get("t", "")
    if kind == "topo":
        print(npu_query.topology(played, chips))
        return 0
    if kind not in QUERIES:
        print(f"This device does not support querying {kind}." if kind else USAGE)
        return 1
    own = [one for one in chips if str(one.npu) == asked.get("i")]
    if not own:
        print("The NPU ID is invalid: the device does not exist.")
        return 1
    if "c" in asked:
        own = [one for one in own if str(one.chip) == asked["c"]]
        if not own:
            print("The chip ID is invalid: the device does not exist.")
            return 1
    print(_answer(kind, played, own, is_chip="c" in asked))
    return 0


def _answer(kind: str, played: place.Data, own: list[Chip], *, is_chip: bool) -> str:
    versions = cards.driver()
    if kind == "board":
        pairs = npu_query.board_of_chip(played, versions, own[0]) if is_chip else None
        return npu_query.lines(pairs or npu_query.board(played, versions, own[0], len(own)))
    width = 41 if kind == "ecc" else 31
    answers = [_of_chip(kind, played, one) for one in own]
    if is_chip:
        return npu_query.lines(answers[0], width)
    head: list[npu_query.Pair] = [("NPU ID", own[0].npu), ("Chip Count", len(own))]
    return "\n".join([npu_query.lines(head, width), *("\n" + npu_query.lines(answer, width) for answer in answers)])


def _of_chip(kind: str, played: place.Data, one: Chip) -> list[npu_query.Pair]:
    if kind == "ecc":
        card = next(card for card in played["cards"] if card["npu"] == one.npu)
        return npu_query.ecc(one, card.get("ecc", {}))
    last: list[npu_query.Pair] = [("Chip ID", one.chip)]
    if kind == "common":
        return [*npu_query.common(played, one), *npu_query.power(one), *last]
    if kind == "memory":
        return [*npu_query.memory(one, played), *last]
    if kind == "usages":
        return npu_query.usages(one)
    if kind == "temp":
        return [("NPU Temperature (C)", one.temp_c), *last]
    return [*(npu_query.health(one) if kind == "health" else npu_query.power(one)), *last]


def _watch(played: place.Data) -> int:
    """A row for each chip every second, until it is ended."""
    print(npu_query.watch_head())
    while True:
        for one in cards.now(played):
            print(npu_query.watch_row(one), flush=True)
        time.sleep(1)


def _set(words: list[str]) -> int:
    asked = _options(words)
    kind = asked.get("t", "")
    if kind not in SETTINGS:
        print(f"This device does not support setting {kind}.")
        return 1
    if users.current().uid:
        print("Permission denied: this command has to be run as root.", file=sys.stderr)
        return 1
    with place.changing("settings") as kept:
        kept[f"{kind}/{asked.get('i', 'all')}"] = asked.get("d", "")
    print(npu_query.lines([("Status", "OK"), ("Message", f"The {kind} of the chip is set successfully.")]))
    return 0
