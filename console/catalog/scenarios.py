"""What a rehearsal host can play: scenarios.yaml as values."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from console.errors import NotFound
from console.text import say

FILE = Path(__file__).with_name("scenarios.yaml")


@dataclass(frozen=True)
class Scenario:
    """One simulated host. `title` and `about` by language: "en", "zh"."""

    id: str
    title: Mapping[str, str]
    about: Mapping[str, str]

    def title_in(self, language: str) -> str:
        return self.title.get(language) or self.title["en"]

    def about_in(self, language: str) -> str:
        return self.about.get(language) or self.about["en"]


@functools.cache
def scenarios() -> tuple[Scenario, ...]:
    """All of them, in the order in which they are offered."""
    entries = yaml.safe_load(FILE.read_text(encoding="utf-8"))["scenarios"]
    return tuple(Scenario(str(one["id"]), dict(one["title"]), dict(one["about"])) for one in entries)


def scenario(scenario_id: str) -> Scenario:
    """Raises NotFound for an id that scenarios.yaml does not have."""
    for one in scenarios():
        if one.id == scenario_id:
            return one
    known = ", ".join(one.id for one in scenarios())
    raise NotFound(say("There is no scenario {id}. There are: {known}.", id=scenario_id, known=known))
