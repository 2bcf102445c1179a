"""Which option of `vllm serve` carries which setting of a server, in both directions."""

import functools
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from console.catalog import parsers
from console.catalog.parsers import Option
from console.serving.asked import AUTO, DEFAULTS, Refusal, ServeSpec
from console.text import say

FIELDS: Mapping[str, str] = {
    "dtype": "--dtype",
    "tensor_parallel": "--tensor-parallel-size",
    "pipeline_parallel": "--pipeline-parallel-size",
    "data_parallel": "--data-parallel-size",
    "expert_parallel": "--enable-expert-parallel",
    "context": "--max-model-len",
    "max_num_seqs": "--max-num-seqs",
    "max_batched_tokens": "--max-num-batched-tokens",
    "utilization": "--gpu-memory-utilization",
    "quantization": "--quantization",
    "trust_remote_code": "--trust-remote-code",
    "tokenizer_mode": "--tokenizer-mode",
    "enforce_eager": "--enforce-eager",
    "compilation": "--compilation-config",
    "prefix_caching": "--enable-prefix-caching",
    "chunked_prefill": "--enable-chunked-prefill",
    "async_scheduling": "--async-scheduling",
    "speculative": "--speculative-config",
    "reasoning_parser": "--reasoning-parser",
    "tool_parser": "--tool-call-parser",
    "lora_modules": "--lora-modules",
    "additional_config": "--additional-config",
}
"""Field of ServeSpec -> the option that carries it, in the order in which they are written."""
OF_OPTION: Mapping[str, str] = {option: name for name, option in FIELDS.items()}
BESIDE: Mapping[str, str] = {"tool_parser": "--enable-auto-tool-choice", "lora_modules": "--enable-lora"}
"""Field -> a switch without which its option does nothing."""
REASONING_SWITCH_UNTIL = "0.9.0"
"""Before this release --reasoning-parser did nothing without --enable-reasoning."""
QUIET = ("--disable-access-log-for-endpoints", "/health,/metrics")
"""What the console asks every two seconds is no news in a log; vLLM knows it from 0.18 on."""
UNSET: Mapping[str, object] = {**DEFAULTS, "dtype": AUTO}
"""What each field is when its option is not given."""


def words(spec: ServeSpec) -> tuple[str, ...]:
    """The arguments of `vllm serve` for the release of `spec`, the model first; what is at its default is left out."""
    made = [spec.model_folder, "--served-model-name", spec.served_name, "--host", spec.host, "--port", str(spec.port)]
    parser = parsers.parser_of(spec.release)
    for name, value in chosen(spec):
        made += _written(name, value, parser.by_name.get(FIELDS[name]))
    if spec.reasoning_parser and parsers.order(spec.release) < parsers.order(REASONING_SWITCH_UNTIL):
        made.append("--enable-reasoning")
    return (*made, *spec.extra_args)


def chosen(spec: ServeSpec) -> Iterator[tuple[str, Any]]:
    """Settings that carry an option and are not at its default."""
    for name in FIELDS:
        value = getattr(spec, name)
        if value != UNSET[name]:
            yield name, value


def _written(name: str, value: Any, option: Option | None) -> list[str]:
    flag = FIELDS[name]
    beside = [BESIDE[name]] if name in BESIDE else []
    if isinstance(value, bool):
        if option is not None and option.kind == "maybe":
            return [flag, str(value)]
        return [flag if value else f"--no-{flag.removeprefix('--')}"]
    if isinstance(value, Mapping):
        return [flag, json.dumps(value, ensure_ascii=False)]
    if isinstance(value, tuple):
        return [*beside, flag, *value]
    return [*beside, flag, str(value)]


def refusals(spec: ServeSpec) -> Iterator[Refusal]:
    """What the release of `spec` does not know or take, setting by setting, and then as its parser reads all of it."""
    parser = parsers.parser_of(spec.release)
    found = False
    for name, value in chosen(spec):
        option = parser.by_name.get(FIELDS[name])
        for refusal in _unknown(spec, name, value, option):
            found = True
            yield refusal
    known: Mapping[str, tuple[str, ...]] = {
        "reasoning_parser": parser.reasoning_parsers,
        "tool_parser": parser.tool_parsers,
    }
    for name, names in known.items():
        plugin = f"--{name.split('_', maxsplit=1)[0]}-parser-plugin"
        value = getattr(spec, name)
        if value and value not in names and plugin not in spec.extra_args:
            found = True
            why = say("vllm-ascend {release} has no parser '{name}'.", release=spec.release, name=value)
            yield Refusal(name, why, say("Choose one of: {names}.", names=", ".join(names)))
    if spec.extra_args and (not spec.extra_args[0].startswith("-") or "--" in spec.extra_args):
        found = True
        why = say("More arguments begin with an option, so that none of them belongs to the words before.")
        yield Refusal("extra_args", why, say("Write an option first, and no bare dashes."))
    if not found and (error := parse_error(spec)) is not None:
        why = say("The parser of vllm-ascend {release} says: {error}.", release=spec.release, error=error)
        yield Refusal("extra_args", why)


def _unknown(spec: ServeSpec, name: str, value: Any, option: Option | None) -> Iterator[Refusal]:
    flag = FIELDS[name]
    if option is None:
        known = ", ".join(reversed(parsers.knowing(flag)))
        why = say("vllm-ascend {release} does not know {flag}.", release=spec.release, flag=flag)
        yield Refusal(name, why, say("Leave it out, or use one of these releases: {known}.", known=known))
    elif value is False and option.kind == "switch":
        why = say("In vllm-ascend {release} nothing switches {flag} off.", release=spec.release, flag=flag)
        yield Refusal(name, why, say("Leave it to the engine."))
    elif option.choices and value not in option.choices:
        why = say("vllm-ascend {release} does not take {value} for {flag}.",
                  release=spec.release, value=str(value), flag=flag)  # fmt: skip
        yield Refusal(name, why, say("Choose one of: {names}.", names=", ".join(map(str, option.choices))))
    elif isinstance(value, float) and not math.isfinite(value):
        yield Refusal(name, say("This is not a number."))


def parse_error(spec: ServeSpec) -> str | None:
    """What the release's parser says to the whole command; None if it takes it."""
    try:
        parsed, rest = _parser(spec.release).parse_known_args(parsers.dashed(words(spec)))
    except ValueError as error:
        return str(error)
    if rest:
        return f"unrecognized arguments: {' '.join(rest)}"
    return None if parsed.model_tag == spec.model_folder else "more than one model"


_parser = functools.cache(parsers.argument_parser)
