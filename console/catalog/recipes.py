"""Settings for two cards that a beginner can take as they are: recipes.yaml as values."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

FILE = Path(__file__).with_name("recipes.yaml")


@dataclass(frozen=True)
class Recipe:
    """One setting, with what to expect of it in both languages. hbm_gib of one card; model as in models.yaml."""

    id: str
    hbm_gib: int
    chip: str
    cards: int
    model: str
    quantization: str
    tp: int
    context: int
    concurrency: int
    title: Mapping[str, str]
    expect: Mapping[str, str]
    source: str


@functools.cache
def recipes() -> tuple[Recipe, ...]:
    tree = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return tuple(Recipe(**entry) for entry in tree["recipes"])


def recipes_for(hbm_mib: int | None) -> tuple[Recipe, ...]:
    """Those for cards of this size; all of them when it is not known."""
    return tuple(one for one in recipes() if hbm_mib is None or one.hbm_gib * 1024 <= hbm_mib < one.hbm_gib * 2048)
