"""A half-filled launch form as parts of an address, in both directions; what an address must not decide is left out.

Anybody can write a link, so it never carries environment, free options, volumes, images, network addresses or keys.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from console.serving.asked import DEFAULTS, ServeSpec
from console.serving.purpose import Purpose
from console.text import Text, say

OTHERS = frozenset(("host", "stage", "lang", "model", "backend", "for", "users", "token"))
"""Parts that the page, or the router before it, reads itself."""
MOST = 1 << 40
LONGEST = 100
MOST_NUMBERS = 64


def _whole(word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", word):
        raise ValueError
    return int(word)


def _share(word: str) -> float:
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?", word) or not math.isfinite(number := float(word)):
        raise ValueError
    return number


def _switch(word: str) -> bool:
    return {"true": True, "false": False}[word]


def _word(word: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}", word):
        raise ValueError
    return word


def _numbers(word: str) -> tuple[int, ...]:
    found = word.split(",")
    if len(found) > MOST_NUMBERS:
        raise ValueError
    return tuple(map(_whole, found))


READ: Mapping[str, Callable[[str], object]] = {
    **dict.fromkeys(("tensor_parallel", "pipeline_parallel", "data_parallel", "context", "port"), _whole),
    **dict.fromkeys(("max_num_seqs", "max_batched_tokens"), _whole),
    **dict.fromkeys(("utilization", "kv_space_gib"), _share),
    **dict.fromkeys(("expert_parallel", "enforce_eager", "api_key"), _switch),
    **dict.fromkeys(("prefix_caching", "chunked_prefill", "async_scheduling"), _switch),
    **dict.fromkeys(("served_name", "dtype", "quantization", "reasoning_parser", "tool_parser"), _word),
    "tokenizer_mode": _word,
    "device_ids": _numbers,
}
"""Field of ServeSpec -> what reads it; its part of the address is called the same, with dashes."""
PARTS = {name.replace("_", "-"): name for name in READ}
"""Part of an address -> the field it fills in."""


@dataclass(frozen=True)
class Link:
    """fields: what an address fills in; left: a sentence for each part that is left out, and why."""

    fields: Mapping[str, object] = field(default_factory=dict)
    left: tuple[Text, ...] = ()


def read(address: Mapping[str, str]) -> Link:
    """What an address fills in. Never raises, whatever stands there."""
    fields: dict[str, object] = {}
    left: list[Text] = []
    for name, word in address.items():
        if name in OTHERS:
            continue
        if name not in PARTS:
            left.append(say("The address has a part “{name}” that the form does not know; it is left out.",
                            name=_short(name)))  # fmt: skip
            continue
        try:
            fields[PARTS[name]] = READ[PARTS[name]](word)
        except (ValueError, KeyError):
            left.append(
                say("The address says {name} is “{value}”, which cannot be; it is left out.", name=name,
                    value=_short(word))
            )  # fmt: skip
    asked = address.get("for", "")
    if asked and asked not in set(Purpose):
        left.append(say("The address says {name} is “{value}”, which cannot be; it is left out.", name="for",
                        value=_short(asked)))  # fmt: skip
    return Link(fields, tuple(left))


def written(spec: ServeSpec) -> dict[str, str]:
    """The parts of an address for a spec: what is not at its default and may stand there."""
    made = {"model": spec.model_folder, "backend": spec.backend}
    for part, name in PARTS.items():
        value = getattr(spec, name)
        if value == DEFAULTS[name] or value is None:
            continue
        made[part] = ",".join(map(str, value)) if isinstance(value, tuple) else _said(value)
    return made


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short(word: str) -> str:
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"
