"""What each release takes: options of `vllm serve`, names of parsers, environment variables, keys of additional-config.

The files in `parsers/` were read by scripts/read_parsers.py from each release's own source archive.
"""

import argparse
import functools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from console.errors import NotFound
from console.text import say

FOLDER = Path(__file__).with_name("parsers")
PLUGIN, VLLM = "vllm-ascend", "vllm"
_BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@dataclass(frozen=True)
class Option:
    """One option of `vllm serve`.

    kind     switch (takes nothing) | toggle (takes nothing, --no-... undoes it) | int | float | str | tokens (a number
             that may end in k or M) | json | words (JSON or a word) | list (one word or more) | maybe (a word or none)
    default  None also where only running vLLM would tell
    choices  the only values it takes; known: values it takes among others
    """

    name: str
    kind: str
    default: Any = None
    choices: tuple[Any, ...] = ()
    known: tuple[Any, ...] = ()
    also: tuple[str, ...] = ()
    deprecated: bool = False

    @property
    def opposite(self) -> str | None:
        return f"--no-{self.name.removeprefix('--')}" if self.kind == "toggle" else None

    @property
    def names(self) -> tuple[str, ...]:
        """Every way to write it out in full."""
        return (self.name, *self.also, *([self.opposite] if self.opposite else []))


@dataclass(frozen=True)
class Parser:
    """The argument parser of one vLLM release, as data. `by_name`: every name, short ones and opposites too."""

    vllm: str
    options: Mapping[str, Option]
    by_name: Mapping[str, Option]
    reasoning_parsers: tuple[str, ...]
    tool_parsers: tuple[str, ...]
    env: frozenset[str]

    def find(self, word: str) -> tuple[str, ...]:
        """Full names that `word` stands for: itself, or those that it begins, as argparse reads an abbreviation."""
        if word in self.by_name:
            return (word,)
        return tuple(sorted(name for name in self.by_name if word.startswith("--") and name.startswith(word)))


@dataclass(frozen=True)
class Key:
    """One key of additional-config. keys: those inside a group, with defaults; env: the variable before it."""

    name: str
    default: Any = None
    keys: Mapping[str, Any] = field(default_factory=dict)
    env: str | None = None


@dataclass(frozen=True)
class Plugin:
    """What one vllm-ascend release reads. strict: a key it does not know stops the start, else it does nothing."""

    release: str
    vllm: str
    strict: bool
    config: Mapping[str, Key]
    env: frozenset[str]


@functools.cache
def releases() -> tuple[str, ...]:
    """The vllm-ascend releases whose source was read, newest first."""
    return tuple(sorted((_version(path, PLUGIN) for path in FOLDER.glob(f"{PLUGIN}-*.json")), key=order, reverse=True))


def nearest(release: str) -> str:
    """`release` if its source was read, else the newest older one (the oldest, if there is none)."""
    known = releases()
    wanted = release.strip().removeprefix("v")
    if wanted in known:
        return wanted
    older = [one for one in known if order(one) <= order(wanted)]
    return older[0] if older else known[-1]


def newest_stable() -> str:
    """The release that is meant where none is named."""
    return next(one for one in releases() if "rc" not in one)


@functools.cache
def plugin(release: str) -> Plugin:
    """What this vllm-ascend release reads. Raises NotFound unless its source was read."""
    tree = _read(PLUGIN, release)
    keys = {
        name: Key(name, one.get("default"), one.get("keys", {}), one.get("env")) for name, one in tree["config"].items()
    }
    return Plugin(release, tree["vllm"], tree["strict"], keys, frozenset(tree["env"]))


@functools.cache
def parser(vllm: str) -> Parser:
    """The parser of this vLLM release. Raises NotFound unless its source was read."""
    tree = _read(VLLM, vllm)
    options = {name: _option(name, one) for name, one in tree["options"].items()}
    by_name = {name: option for option in options.values() for name in option.names}
    readers = (tuple(tree["reasoning_parsers"]), tuple(tree["tool_parsers"]))
    return Parser(vllm, options, by_name, *readers, frozenset(tree["env"]))


def _option(name: str, one: Mapping[str, Any]) -> Option:
    choices, known, also = (tuple(one.get(key, ())) for key in ("choices", "known", "also"))
    return Option(name, one["kind"], one.get("default"), choices, known, also, one.get("deprecated", False))


def parser_of(release: str) -> Parser:
    """The parser that belongs to a vllm-ascend release."""
    return parser(plugin(release).vllm)


def knowing(name: str) -> tuple[str, ...]:
    """The vllm-ascend releases whose `vllm serve` knows the option `name`, newest first."""
    return tuple(one for one in releases() if name in parser_of(one).by_name)


def every_name() -> frozenset[str]:
    """Names of options of all releases."""
    return frozenset(name for one in releases() for name in parser_of(one).by_name)


def order(release: str) -> tuple[int, ...]:
    """A key that sorts 0.9.1 < 0.23.0rc1 < 0.23.0 < 0.23.0.post1."""
    found = re.match(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.?(rc|post)(\d+))?", release.strip())
    if found is None:
        return (0, 0, 0, 0, 0)
    rank = {"rc": -1, "post": 1, None: 0}[found[4]]
    return (int(found[1]), int(found[2] or 0), int(found[3] or 0), rank, int(found[5] or 0))


def number_of_tokens(word: str) -> int:
    """A number as people write it: 16384, 16k (decimal) or 16K (binary). Raises ValueError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtT])", word.strip())
    if found is None:
        return int(word)
    if found[2] in _DECIMAL:
        return int(float(found[1]) * _DECIMAL[found[2]])
    return int(found[1]) * _BINARY[found[2]]


class _Refusing(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def argument_parser(release: str) -> argparse.ArgumentParser:
    """The parser of a vllm-ascend release rebuilt from the data; `parse_args` raises ValueError on what it refuses."""
    made = _Refusing(prog="vllm serve", add_help=False)
    made.add_argument("model_tag", nargs="?")
    for option in parser_of(release).options.values():
        made.add_argument(option.name, *option.also, **_arguments(option))
    return made


def dashed(words: Iterable[str]) -> list[str]:
    """Options with dashes for underscores, as vLLM itself reads them."""
    return [_dashed(word) if word.startswith("--") else word for word in words]


def _dashed(word: str) -> str:
    name, is_split, value = word.partition("=")
    head, dot, rest = name.partition(".")
    return head.replace("_", "-") + dot + rest + is_split + value


def _arguments(option: Option) -> dict[str, Any]:
    if option.kind == "switch":
        return {"action": "store_true"}
    if option.kind == "toggle":
        return {"action": argparse.BooleanOptionalAction}
    types = {"int": int, "float": float, "json": json.loads, "tokens": _tokens_or_auto}
    made: dict[str, Any] = {"type": types.get(option.kind, str)}
    if option.kind == "list":
        made["nargs"] = "+"
    elif option.kind == "maybe":
        made["nargs"] = "?"
    if option.choices and option.kind != "list":
        made["choices"] = list(option.choices)
    return made


def _tokens_or_auto(word: str) -> int:
    return -1 if word.lower() == "auto" else number_of_tokens(word)


def _version(path: Path, package: str) -> str:
    return path.stem.removeprefix(f"{package}-")


@functools.cache
def _read(package: str, version: str) -> Mapping[str, Any]:
    path = FOLDER / f"{package}-{version}.json"
    if not re.fullmatch(r"[\w.]+", version) or not path.exists():
        known = ", ".join(releases())
        raise NotFound(
            say("The options of {package} {version} are not known. Known are vllm-ascend {known}.",
                package=package, version=version, known=known)
        )  # fmt: skip
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
