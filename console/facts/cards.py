"""Answers that were asked card by card, each behind a line `== card <id>`."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from console.facts.hccn import Hccn, parse_hccn_tool
from console.facts.lines import clean
from console.facts.npu_smi_queries import Answer, parse_query
from console.facts.trouble import Trouble, trouble_in

_CARD = re.compile(r"^== card (\d+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Cards:
    """What one query said of each card; a card is in `answers` or in `troubles`."""

    answers: Mapping[int, Answer] = field(default_factory=dict)
    troubles: Mapping[int, Trouble] = field(default_factory=dict)

    def each(self, name: str) -> dict[int, tuple[object, ...]]:
        """The value `name` of each chip, by card."""
        return {card: tuple(chip.get(name) for chip in answer.chips) for card, answer in self.answers.items()}


@dataclass(frozen=True)
class Ports:
    """The network ports of NPUs by device number."""

    ports: Mapping[int, Hccn] = field(default_factory=dict)
    troubles: Mapping[int, Trouble] = field(default_factory=dict)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    found = list(_CARD.finditer(text))
    for match, after in zip_longest(found, found[1:]):
        yield int(match.group(1)), text[match.end() : after.start() if after else len(text)]


def parse_cards(kind: str) -> Callable[[str], Cards | Trouble]:
    """A parser for the answers of `npu-smi info -t <kind>`."""

    def parse(text: str) -> Cards | Trouble:
        parts = {card: parse_query(kind, part) for card, part in _parts(clean(text))}
        if not parts or all(isinstance(one, Trouble) for one in parts.values()):
            return next((one for one in parts.values() if isinstance(one, Trouble)), trouble_in(text))
        return Cards(
            {card: one for card, one in parts.items() if isinstance(one, Answer)},
            {card: one for card, one in parts.items() if isinstance(one, Trouble)},
        )

    return parse


def parse_ports(text: str) -> Ports | Trouble:
    """The answers of hccn_tool, several commands for each device."""
    parts = {card: parse_hccn_tool(part) for card, part in _parts(clean(text))}
    if not parts or all(isinstance(one, Trouble) for one in parts.values()):
        return next((one for one in parts.values() if isinstance(one, Trouble)), trouble_in(text))
    return Ports(
        {card: one for card, one in parts.items() if isinstance(one, Hccn)},
        {card: one for card, one in parts.items() if isinstance(one, Trouble)},
    )
