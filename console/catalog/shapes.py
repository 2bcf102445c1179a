"""What an entry of each section of the catalog has to look like."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from console.text import Text, say

_VERSION = re.compile(r"\d+(?:\.(?:\d+|[A-Za-z]+\d*|\d+[A-Za-z]+\d*))*(?:\+\w+)?")
_PYTHON = re.compile(r"3\.\d{1,2}")
_BOUND = re.compile(r"(?:<|<=|>|>=|==)\d[\w.]*")
PARTS = ("cann", "vllm", "vllm_ascend", "torch", "torch_npu", "triton_ascend", "python", "driver")
"""Parts of a stack that have a version, by the names that catalog and code use."""
ROUTES = ("docker", "venv")
ARCHS = ("aarch64", "x86_64")
VERDICTS = ("true", "partly_true", "false", "outdated", "misleading", "unverifiable")
PROOFS = ("proved", "emulated", "unreachable", "fails")
WHEN = (
    "routes", "archs", "chips", "systems", "driver", "releases", "cann_since", "cann_before",
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """One kind of value: how to tell it, and in words what is wanted."""

    wanted: Text
    fits: Callable[[object], bool]


@dataclass(frozen=True)
class Field:
    """A field of an entry. `optional`: it may be left out; `empty`: it may be null."""

    shape: Shape
    optional: bool = False
    empty: bool = False


@dataclass(frozen=True)
class Section:
    """One list of the catalog. `key`: the fields that tell entries apart, of a list its first word."""

    key: tuple[str, ...]
    fields: Mapping[str, Field]


def is_version(value: object) -> bool:
    return isinstance(value, str) and bool(_VERSION.fullmatch(value))


def _is_words(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def is_date(value: object) -> bool:
    try:
        return date.fromisoformat(str(value)) is not None
    except ValueError:
        return False


def _is_pair(value: object) -> bool:
    return isinstance(value, dict) and set(value) == {"en", "zh"} and all(map(_is_words, value.values()))


def _list(one: Callable[[object], bool], *, least: int = 0) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and len(value) >= least and all(map(one, value))


def _map(one: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, dict) and all(isinstance(key, str) for key in value) and _all(one, value)


def _all(one: Callable[[object], bool], value: Mapping[str, object]) -> bool:
    return all(map(one, value.values()))


def _among(*words: str) -> Callable[[object], bool]:
    return lambda value: value in words


def _is_range(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_PYTHON.fullmatch(str(one)) for one in value)


def _is_pattern(value: object) -> bool:
    try:
        return isinstance(value, str) and re.compile(value) is not None
    except re.error:
        return False


def _is_match(value: object) -> bool:
    if not isinstance(value, dict) or not value or set(value) - {"words", "versions"}:
        return False
    versions = value.get("versions", {})
    return _list(_is_pattern)(value.get("words", [])) and (
        isinstance(versions, dict)
        and set(versions) <= set(PARTS)
        and all(isinstance(one, str) and _BOUND.fullmatch(one) for one in versions.values())
    )


def _is_when(value: object) -> bool:
    if not isinstance(value, dict) or set(value) - set(WHEN):
        return False
    lists = {name: one for name, one in value.items() if not name.startswith("cann_")}
    versions = [one for name, one in value.items() if name.startswith("cann_")]
    return all(map(_list(_is_words), lists.values())) and all(map(is_version, versions))


def _is_variant(value: object) -> bool:
    allowed = {"cann", "torch_npu", "triton_ascend", "image", "archs", "chips", "why"}
    return (
        isinstance(value, dict)
        and set(value) <= allowed
        and is_version(value.get("cann"))
        and is_version(value.get("torch_npu"))
        and (value.get("triton_ascend") is None or is_version(value["triton_ascend"]))
        and isinstance(value.get("image"), bool)
        and _list(_among(*ARCHS))(value.get("archs", []))
        and _list(_is_words)(value.get("chips", []))
        and ("why" not in value or _is_pair(value["why"]))
    )


def _is_image(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"suffix", "systems", "python"}
        and _map(lambda one: isinstance(one, str))(value["suffix"])
        and _list(_is_words, least=1)(value["systems"])
        and bool(_PYTHON.fullmatch(str(value["python"])))
    )


def _is_proof(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"verdict", "date", "why"}
        and value["verdict"] in PROOFS
        and is_date(value["date"])
        and _is_pair(value["why"])
    )


VERSION = Shape(say("a version such as 9.1.0; one with a single dot stands in quotes, such as '25.5'"), is_version)
WORDS = Shape(say("words"), _is_words)
DATE = Shape(say("a date such as '2026-12-01'"), is_date)
YES_NO = Shape(say("true or false"), lambda value: isinstance(value, bool))
NUMBER = Shape(say("a whole number"), lambda value: isinstance(value, int) and not isinstance(value, bool))
PAIR = Shape(say("the same sentence twice, as en and zh"), _is_pair)
PAIRS = Shape(say("a list of sentences, each as en and zh"), _list(_is_pair))
LIST = Shape(say("a list of words"), _list(_is_words))
VERSIONS = Shape(say("a list of versions, each in quotes if it has a single dot"), _list(is_version, least=1))
ARCH_LIST = Shape(say("a list of aarch64 and x86_64"), _list(_among(*ARCHS)))
ROUTE_LIST = Shape(say("a list of docker and venv"), _list(_among(*ROUTES)))
PYTHON_LIST = Shape(say("a list of Python versions in quotes, such as '3.11'"), _list(lambda one: _python(one)))
PYTHON_RANGE = Shape(say("the lowest and the highest Python, in quotes: ['3.10', '3.12']"), _is_range)
VERSION_MAP = Shape(say("names of packages with their versions"), _map(is_version))
WORD_MAP = Shape(say("names with a word each"), _map(_is_words))
MATCHES = Shape(
    say("a list of alternatives, each with words (a list of patterns) or versions (such as cann: '<8')"),
    _list(_is_match),
)
WHEN_MAP = Shape(say("conditions, such as routes: [venv]"), _is_when)
VARIANTS = Shape(
    say("a list of variants, each with cann, torch_npu, triton_ascend and image"), _list(_is_variant, least=1)
)
IMAGE = Shape(say("suffix by family, systems, python"), _is_image)
PROOF_MAP = Shape(say("by architecture: verdict, date and why"), _map(_is_proof))
WHERE = Shape(say("pypi, vendor or by_hand"), _among("pypi", "vendor", "by_hand"))
VERDICT = Shape(
    say("a verdict, in quotes: true, partly_true, false, outdated, misleading or unverifiable"), _among(*VERDICTS)
)


def _python(value: object) -> bool:
    return isinstance(value, str) and bool(_PYTHON.fullmatch(value))


def _section(*key: str, **fields: Field | Shape) -> Section:
    """Every entry also says where it comes from and whether it was seen there."""
    own = {name: one if isinstance(one, Field) else Field(one) for name, one in fields.items()}
    return Section(key, {**own, "source": Field(WORDS), "verified": Field(YES_NO)})


def _maybe(shape: Shape) -> Field:
    return Field(shape, optional=True, empty=True)


SECTIONS: Mapping[str, Section] = {
    "chips": _section(
        "names", names=LIST, also=_maybe(LIST), family=WORDS, hbm_mb=Field(NUMBER, empty=True), supported=YES_NO,
        wheels=YES_NO,
    ),
    "driver_for_cann": _section(
        "cann", cann=VERSION, compatible=_maybe(VERSIONS), incompatible=_maybe(VERSIONS), paired=_maybe(VERSION),
        fetch=_maybe(VERSION),
    ),
    "releases": _section(
        "vllm_ascend", vllm_ascend=VERSION, stable=YES_NO, released=DATE, vllm=VERSION, python=PYTHON_RANGE,
        torch=VERSION, chips=LIST, variants=VARIANTS, image=IMAGE, pins=_maybe(VERSION_MAP),
        driver_least=_maybe(VERSION), driver_fetch=_maybe(VERSION), driver_wished=_maybe(VERSION), joint=_maybe(PAIR),
        proof=_maybe(PROOF_MAP), notes=_maybe(PAIRS),
    ),
    "prereleases": _section(
        "vllm_ascend", vllm_ascend=VERSION, released=Field(DATE, empty=True), vllm=VERSIONS,
        python=Field(PYTHON_RANGE, empty=True), cann=VERSION, torch=VERSION, torch_npu=VERSION,
        triton_ascend=Field(VERSION, empty=True),
    ),
    "wheels": _section(
        "package", "version", package=WORDS, version=VERSION, where=WHERE, pythons=_maybe(PYTHON_LIST),
        tags=_maybe(WORD_MAP), chips=_maybe(LIST),
    ),
    "families": _section(
        "family", family=WORDS, title=WORDS, dies=NUMBER, cann_image=WORDS, driver=Field(WORDS, empty=True),
        firmware=Field(WORDS, empty=True),
    ),
    "driver_files": _section("driver", driver=VERSION, file=VERSION, firmware=Field(VERSION, empty=True)),
    "cann_names": _section(
        "since", since=VERSION, toolkit=WORDS, operators=WORD_MAP, nnal=WORDS, folder=WORDS, environment=WORDS
    ),
    "cann": _section("cann", cann=VERSION, folder=Field(WORDS, empty=True)),
    "places": _section("id", id=WORDS, address=Field(WORDS, empty=True), header=_maybe(WORDS), login=YES_NO),
    "systems": _section(
        "id", id=WORDS, title=WORDS, archs=ARCH_LIST, glibc=VERSION, python=WORDS, tool=WORDS, image=WORDS,
        routes=ROUTE_LIST, chips=LIST, why=_maybe(PAIR),
    ),
    "traps": _section("id", id=WORDS, when=WHEN_MAP, match=MATCHES, text=PAIR),
    "claims": _section("id", id=WORDS, claim=PAIR, match=MATCHES, verdict=VERDICT, finding=PAIR, instead=PAIR),
}  # fmt: skip
"""Sections by name, in the order in which `pilot catalog check` counts them."""
