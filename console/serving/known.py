"""What a release makes of an option, a variable or a key: nothing wrong, or what is wrong and what to write instead."""

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from console.catalog import flags, parsers
from console.catalog.flags import Flag, Said
from console.catalog.limits import limits
from console.catalog.parsers import Option
from console.text import Text, say, verbatim

CUDA_VALUES = ("flash_attn", "flashinfer", "flashmla", "xformers", "triton_attn", "cuda", "cutlass", "marlin", "nccl")


@dataclass(frozen=True)
class Trouble:
    """What is wrong, and what to write instead. replace: the option and value, variable or key that it becomes."""

    problem: Said
    instead: Said | None = None
    replace: tuple[str, ...] = ()


def option_trouble(name: str, value: str, release: str) -> Trouble | None:
    """`name` in full, with dashes. None if the release knows it."""
    parser = parsers.parser_of(release)
    if name in parser.by_name:
        return None
    found = parser.find(name)
    if len(found) == 1:
        return None
    if found:
        why = say("{name} may be short for several options, and vLLM refuses that.", name=name)
        return Trouble(why, say("Write one of them in full: {names}.", names=", ".join(found)))
    entry = flags.flags().wrong.get(name)
    if entry is not None:
        replace = tuple(word.replace("{value}", value) for word in entry.replace) if value else ()
        return Trouble(entry.text, entry.instead_of(value), replace)
    known = parsers.knowing(name)
    if known:
        why = say("vllm-ascend {release} does not know {name}; these releases do: {known}.",
                  release=release, name=name, known=", ".join(reversed(known)))  # fmt: skip
        return Trouble(why, say("Leave it out, or take one of those releases."))
    close = _near_option(name, release)
    why = say("vllm-ascend {release} has no option {name}, and vllm serve stops at options it does not know.",
              release=release, name=name)  # fmt: skip
    return Trouble(why, say("{near} may be meant.", near=close) if close else say("Leave it out."))


@functools.lru_cache(maxsize=256)
def _near_option(name: str, release: str) -> str | None:
    names = parsers.parser_of(release).by_name
    return name.lower() if name.lower() in names else flags.near(name, names)


def meant(name: str, release: str) -> tuple[str, Option] | None:
    """The full name and the option that a known word stands for, abbreviations too."""
    parser = parsers.parser_of(release)
    found = parser.find(name)
    return (found[0], parser.by_name[found[0]]) if len(found) == 1 else None


def value_trouble(name: str, option: Option, value: str) -> Trouble | None:
    """Whether the option takes this value."""
    if option.choices and option.kind != "list" and value not in map(str, option.choices):
        names = ", ".join(map(str, option.choices))
        close = flags.near(value, map(str, option.choices))
        instead = say("{near} may be meant; it takes: {names}.", near=close, names=names) if close else None
        return Trouble(
            say("{name} does not take {value}.", name=name, value=value),
            instead or say("It takes: {names}.", names=names),
        )
    wanted = _KINDS.get(option.kind)
    if wanted is None:
        return None
    try:
        number = wanted(value)
    except (ValueError, OverflowError):
        kind = say("a whole number") if option.kind != "float" else say("a number")
        return Trouble(
            say("{name} takes {kind}, and '{value}' is not one.", name=name, kind=kind, value=value),
            say("Write {name} with a number.", name=name),
        )
    return _out_of_limits(name, number, value)


def _out_of_limits(name: str, number: float, value: str) -> Trouble | None:
    """Numbers that are of the right kind, and that vLLM does not take."""
    limit = limits().get(name)
    if limit is None or limit.holds(number):
        return None
    return Trouble(
        say("{name} does not take {value}.", name=name, value=value), say("It takes {limit}.", limit=limit.text)
    )


def limit_troubles(words: Sequence[str], release: str) -> Iterator[Trouble]:
    """Numbers among the words of a command that its options do not take; what is no number is the parser's to say."""
    for word, after in zip_longest(words, words[1:], fillvalue=""):
        name, is_joined, value = word.partition("=")
        found = meant(parsers.dashed([name])[0], release) if name.startswith("-") else None
        try:
            number = None if found is None else _KINDS[found[1].kind](value if is_joined else after)
        except (KeyError, ValueError, OverflowError):
            continue
        if found is not None and number is not None:
            trouble = _out_of_limits(found[1].name, number, value if is_joined else after)
            yield from () if trouble is None else (trouble,)


def _tokens(word: str) -> int:
    return -1 if word.lower() == "auto" else parsers.number_of_tokens(word)


_KINDS: Mapping[str, Callable[[str], float]] = {"int": int, "float": float, "tokens": _tokens}
"""Kind of an option -> what reads its number."""


def method_trouble(value: str, release: str, family: str | None) -> Trouble | None:
    """Whether vLLM on NPUs takes a value of --quantization in this release on chips of this family."""
    methods = flags.flags().methods
    found = methods.get(value)
    counterpart = say("Use W8A8 or W4A8 weights made with ModelSlim, with --quantization ascend.")
    if found is None:
        why = say("vLLM on NPUs stops with '{name} quantization is currently not supported in npu'.", name=value)
        return Trouble(why, counterpart)
    if parsers.order(release) < parsers.order(found.since):
        why = say("vllm-ascend {release} does not take {name} yet; it came with {since}.",
                  release=release, name=value, since=found.since)  # fmt: skip
        return Trouble(why, counterpart)
    if family is None or family in found.families:
        return None
    if found.expands_since and parsers.order(release) >= parsers.order(found.expands_since):
        why = say(
            "{family} chips have no FP8 arithmetic: the weights are expanded to BF16, which takes twice the memory.",
            family=family,
        )
        return Trouble(why, counterpart)
    why = say("{name} does not run on {family} chips: they have no arithmetic for it.", name=value, family=family)
    return Trouble(why, counterpart)


def method_doubt(value: str, release: str) -> Trouble | None:
    """What has to be said of a value of --quantization where no chip is named: most hosts have an A2 or an A3."""
    found = flags.flags().methods.get(value)
    if found is None or "A2" in found.families:
        return None
    if found.expands_since and parsers.order(release) >= parsers.order(found.expands_since):
        return None
    why = say(
        "No chip is named. {name} runs on chips of {families} only: a 910B and an A3 have no arithmetic for it.",
        name=value,
        families=", ".join(found.families),
    )
    return Trouble(why, say("Use W8A8 or W4A8 weights made with ModelSlim, with --quantization ascend."))


def variable_trouble(name: str, value: str, release: str) -> Trouble | None:
    """Whether something in this release reads a variable; names of other programs are none of our business."""
    entry = flags.flags().variable(name)
    if entry is not None and entry.what == "cuda":
        return _replaced(entry, value, verbatim(f"{entry.replace[0]}={value}") if entry.replace else None)
    if entry is not None and entry.no_effect:
        return Trouble(entry.text, entry.instead)
    plugin, parser = parsers.plugin(release), parsers.parser_of(release)
    if name in plugin.env or name in parser.env or not name.startswith(("VLLM_", "DYNAMIC_EPLB", "MSMONITOR_")):
        return None
    why = say("vllm-ascend {release} does not read {name}: it has no effect.", release=release, name=name)
    if entry is not None and entry.instead is not None:
        return Trouble(why, entry.instead)
    key = entry.replace[0] if entry and entry.replace else _key_instead(name, plugin)
    if key is not None and key in plugin.config:
        instead = say("{key} in --additional-config.", key=key)
        return Trouble(why, instead, ("additional_config", key))
    reading = [
        one for one in reversed(parsers.releases()) if name in {*parsers.plugin(one).env, *parsers.parser_of(one).env}
    ]
    if reading:
        return Trouble(why, say("Leave it out. These releases read it: {known}.", known=", ".join(reading)))
    close = flags.near(name, (*plugin.env, *parser.env))
    return Trouble(why, say("{near} may be meant.", near=close) if close else say("Leave it out."))


def _replaced(entry: Flag, value: str, instead: Said | None) -> Trouble:
    replace = (entry.replace[0], value) if entry.replace and entry.replace[0] != "PYTORCH_NPU_ALLOC_CONF" else ()
    return Trouble(entry.text, instead or entry.instead, replace)


def _key_instead(name: str, plugin: parsers.Plugin) -> str | None:
    return next((key.name for key in plugin.config.values() if key.env == name), None)


def config_troubles(config: Mapping[str, object], release: str) -> list[tuple[str, Trouble]]:
    """Keys of additional-config that this release does not read, or not with such a value; inner ones "group.key"."""
    plugin = parsers.plugin(release)
    found: list[tuple[str, Trouble]] = []
    for key, value in config.items():
        one = plugin.config.get(key)
        if one is None:
            found.append((key, _misplaced(key, plugin) or _unread(key, plugin.config, release, strict=plugin.strict)))
        elif one.keys and isinstance(value, Mapping):
            unread = [inner for inner in value if inner not in one.keys]
            found += [(f"{key}.{inner}", _unread(inner, one.keys, release, strict=plugin.strict)) for inner in unread]
            pairs = [(inner, _unlike(inner, one.keys[inner], value[inner])) for inner in value if inner in one.keys]
            found += [(f"{key}.{inner}", trouble) for inner, trouble in pairs if trouble is not None]
        elif (trouble := _unlike(key, dict(one.keys) or one.default, value)) is not None:
            found.append((key, trouble))
    return found


def _unlike(key: str, default: object, value: object) -> Trouble | None:
    """A value of another kind than the key has by itself; a word is true to Python, "false" too."""
    kinds: Mapping[type, tuple[Text, tuple[type, ...]]] = {
        bool: (say("true or false"), (bool,)),
        int: (say("a whole number"), (int, bool)),
        float: (say("a number"), (int, float)),
        dict: (say("a group in braces"), (dict,)),
        list: (say("a list in brackets"), (list,)),
    }
    wanted = kinds.get(type(default))
    if wanted is None or value is None or type(value) in wanted[1] or (wanted[1] == (bool,) and value in (0, 1)):
        return None
    told = json.dumps(value, ensure_ascii=False, default=str)
    why = say("{name} takes {kind}, and '{value}' is not one.", name=key, kind=wanted[0], value=told)
    return Trouble(why, say("Without it: {value}.", value=json.dumps(default, ensure_ascii=False)))


def _misplaced(key: str, plugin: parsers.Plugin) -> Trouble | None:
    """A key that is read, but inside a group."""
    group = next((name for name, one in plugin.config.items() if key in one.keys), None)
    if group is None:
        return None
    why = say(
        "vllm-ascend {release} reads the key {key} only inside {group}.", release=plugin.release, key=key, group=group
    )
    return Trouble(why, say("Put it into {group}.", group=group))


def _unread(key: str, names: Mapping[str, object], release: str, *, strict: bool) -> Trouble:
    if strict:
        why = say("vllm-ascend {release} does not know the key {key} of additional-config, and does not start with it.",
                  release=release, key=key)  # fmt: skip
    else:
        why = say("vllm-ascend {release} does not know the key {key} of additional-config, and ignores it in silence.",
                  release=release, key=key)  # fmt: skip
    entry = flags.flags().config.get(key)
    if entry is not None and entry.instead is not None:
        return Trouble(why, entry.instead)
    known = [one for one in reversed(parsers.releases()) if key in parsers.plugin(one).config]
    if known:
        return Trouble(why, say("Leave it out. These releases read it: {known}.", known=", ".join(known)))
    close = flags.near(key, names)
    return Trouble(why, say("{near} may be meant.", near=close) if close else say("Leave it out."))
