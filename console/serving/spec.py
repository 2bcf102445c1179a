"""Every reason why a server cannot be what it is asked to be, and good values to begin with.

Sizes follow vLLM: a key/value entry of one token takes, on one rank and in the chosen dtype,
`layers x 2 x KV heads of the rank x head size` numbers with grouped-query attention, and `layers x (latent rank +
rope size)` with multi-head latent attention, whole on every rank (vllm/config/model.py and the MLA design).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from console.serving.asked import AUTO
from console.serving.asked import Refusal as Refusal
from console.serving.asked import ServeSpec as ServeSpec
from console.serving.given import Machine as Machine
from console.serving.given import ModelFacts as ModelFacts
from console.text import Text, say

if TYPE_CHECKING:
    from console.serving.backends import Backend

GIB = 1024**3
DTYPES: Mapping[str, int] = {"bfloat16": 2, "float16": 2, "float32": 4}
"""Number formats we offer -> bytes of one number."""
FIRST_PORT = 8000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_HOST = re.compile(r"[A-Za-z0-9.:-]+")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
ANSWERS_US = ("127.0.0.1", "localhost", "0.0.0.0", "::")
"""Where a server has to listen so that the console, which comes by 127.0.0.1 of its host, reaches it."""
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_WORD = re.compile(r"--(api-k|hf-t)", re.IGNORECASE)
"""Options that take a secret, as short as vLLM reads them."""
_SECRET = re.compile(r"KEY$|TOKEN|SECRET|PASSWORD", re.IGNORECASE)


def defaults(model: ModelFacts, machine: Machine, model_folder: str, served_name: str | None = None) -> ServeSpec:
    """A first spec for the local CPU: one rank, the model's context as far as one GiB of KV cache holds it."""
    spec = ServeSpec(
        backend="local_cpu",
        model_folder=model_folder,
        served_name=served_name or name_of(model_folder),
        port=free_port(machine),
        core_ids=machine.usable_core_ids,
    )
    return replace(spec, context=min(model.max_context, longest_context(spec, model)))


def name_of(model_folder: str) -> str:
    """A served name made from the folder's own name, with what does not belong in a name replaced by dashes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", PurePosixPath(model_folder).name).strip("-._") or "model"


def free_port(machine: Machine) -> int:
    """The first port from 8000 on that nobody holds and no server of ours will hold in a moment."""
    taken = {*machine.ports_in_use, *machine.ports_promised}
    return next(port for port in range(FIRST_PORT, 65536) if port not in taken)


def kv_bytes_per_token(spec: ServeSpec, model: ModelFacts) -> int:
    """Bytes of KV cache one token takes on one rank."""
    size = DTYPES.get(spec.dtype, 2)
    if model.kv_lora_rank:
        return model.layers * (model.kv_lora_rank + (model.qk_rope_head_dim or 0)) * size
    return model.layers * 2 * max(1, model.kv_heads // spec.tensor_parallel) * model.head_dim * size


def longest_context(spec: ServeSpec, model: ModelFacts) -> int:
    """Tokens of one request that the KV space of a rank holds, in whole blocks of the CPU backend (128, MLA 16)."""
    block = 16 if model.kv_lora_rank else 128
    return int(spec.kv_space_gib * GIB / kv_bytes_per_token(spec, model)) // block * block


def weight_bytes(spec: ServeSpec, model: ModelFacts) -> int:
    """Bytes of all weights in the chosen dtype, over all ranks together."""
    return model.parameters * DTYPES.get(spec.dtype, 2) if model.parameters else model.weight_bytes


def refusals(spec: ServeSpec, model: ModelFacts, machine: Machine, backend: "Backend") -> list[Refusal]:
    """Every reason why `spec` cannot work, the backend's own reasons last; empty when it can be started."""
    return [
        *_refuse_words(spec),
        *_refuse_env(spec),
        *_refuse_secret_words(spec),
        *_refuse_address(spec),
        *_refuse_port(spec, machine),
        *_refuse_parallel(spec, model),
        *_refuse_context(spec, model),
        *backend.refusals(spec, model, machine),
    ]


def _refuse_words(spec: ServeSpec) -> Iterable[Refusal]:
    if not _NAME.fullmatch(spec.served_name) or len(spec.served_name) > 100:
        why = say(
            "Clients put the served name into requests, so it may have letters, digits, dots, dashes and underscores, "
            "and at most 100 of them."
        )
        yield Refusal("served_name", why, say("Use {name}.", name=name_of(spec.served_name)))
    if spec.dtype not in DTYPES and spec.dtype != AUTO:
        why = say("'{dtype}' is not a number format vLLM computes in here.", dtype=spec.dtype)
        yield Refusal("dtype", why, say("Choose one of: {names}.", names=", ".join(DTYPES)))
    if spec.max_num_seqs is not None and spec.max_num_seqs < 1:
        yield Refusal(
            "max_num_seqs",
            say("At least one request must be allowed at a time."),
            say("Leave it empty or use 1 or more."),
        )
    if not spec.model_folder.startswith("/"):
        why = say("The model folder must be a whole path that begins with a slash; other names are looked up in a hub.")
        yield Refusal("model_folder", why)


def _refuse_env(spec: ServeSpec) -> Iterable[Refusal]:
    for name in spec.extra_env:
        if not _ENV_NAME.fullmatch(name):
            yield Refusal("extra_env", say("'{name}' is not a name of an environment variable.", name=name))
        elif _SECRET.search(name):
            why = say("'{name}' looks like a secret, and this text is stored and shown.", name=name)
            yield Refusal("extra_env", why, say("Switch on the API key of the server instead."))


def _refuse_secret_words(spec: ServeSpec) -> Iterable[Refusal]:
    """One typed among other options would stand in the list of processes, the log and the history."""
    for word in spec.extra_args:
        if _SECRET_WORD.match(word.replace("_", "-")):
            why = say(
                "'{word}' would show a secret to everybody on the machine: words of a command are visible in its list "
                "of processes.",
                word=word.split("=", maxsplit=1)[0],
            )
            yield Refusal("extra_args", why, say("Switch on the API key of the server instead."))


def _refuse_address(spec: ServeSpec) -> Iterable[Refusal]:
    if not _HOST.fullmatch(spec.host):
        yield Refusal("host", say("'{host}' is not an address to listen at.", host=spec.host), say("Use 127.0.0.1."))
    elif spec.host not in LOOPBACK and not spec.api_key:
        why = say("At {host} every machine of the network could use this server, without a key.", host=spec.host)
        yield Refusal("host", why, say("Use 127.0.0.1, or switch on the API key."))
    elif spec.host not in ANSWERS_US:
        why = say(
            "The console reaches a server by 127.0.0.1 of its host, where one that listens at {host} alone does not "
            "answer: it would never be ready.",
            host=spec.host,
        )
        yield Refusal("host", why, say("Use 127.0.0.1, or 0.0.0.0 with an API key."))


def _refuse_port(spec: ServeSpec, machine: Machine) -> Iterable[Refusal]:
    instead = say("Port {port} is free.", port=str(free_port(machine)))
    if not 1024 <= spec.port <= 65535:
        yield Refusal("port", say("A port is a number from 1024 to 65535; lower ones belong to the system."), instead)
    elif name := machine.ports_promised.get(spec.port):
        yield Refusal(
            "port",
            say("Port {port} belongs to the instance {name} already.", port=str(spec.port), name=name),
            instead,
        )
    elif holder := machine.ports_in_use.get(spec.port):
        yield Refusal("port", say("Port {port} is in use by {holder}.", port=str(spec.port), holder=holder), instead)


def _refuse_parallel(spec: ServeSpec, model: ModelFacts) -> Iterable[Refusal]:
    ranks = spec.tensor_parallel
    if spec.pipeline_parallel < 1:
        yield Refusal("pipeline_parallel", say("There is at least one pipeline stage."), say("Use 1."))
    if spec.data_parallel < 1:
        yield Refusal("data_parallel", say("There is at least one copy of the model."), say("Use 1."))
    if ranks < 1:
        yield Refusal("tensor_parallel", say("There is at least one rank."), say("Use 1."))
        return
    for part, size in _divided(model, whole_experts=spec.expert_parallel):
        if size % ranks:
            why = say("{size} {part} cannot be divided by tensor parallel {ranks}.", size=size, part=part, ranks=ranks)
            yield Refusal("tensor_parallel", why, _allowed(model))
    if not model.kv_lora_rank and model.kv_heads % ranks and ranks % model.kv_heads:
        why = say(
            "{heads} KV heads can neither be divided by nor copied to {ranks} ranks.", heads=model.kv_heads, ranks=ranks
        )
        yield Refusal("tensor_parallel", why, _allowed(model))


def tensor_parallel_choices(model: ModelFacts, most: int = 16) -> list[int]:
    """The tensor parallel sizes up to `most` that divide everything that is divided between ranks."""
    even = [n for n in range(1, most + 1) if all(size % n == 0 for _, size in _divided(model))]
    return [n for n in even if model.kv_lora_rank or model.kv_heads % n == 0 or n % model.kv_heads == 0]


def _allowed(model: ModelFacts) -> Text:
    return say("This model allows: {sizes}.", sizes=", ".join(map(str, tensor_parallel_choices(model))))


def _divided(model: ModelFacts, *, whole_experts: bool = False) -> list[tuple[Text, int]]:
    """What tensor parallel divides; with expert parallel the experts stay whole."""
    parts = [
        (say("attention heads"), model.heads),
        (say("columns of the feed-forward layer"), model.intermediate),
        (say("columns of each expert"), 0 if whole_experts else model.moe_intermediate or 0),
    ]
    return [(part, size) for part, size in parts if size]


def _refuse_context(spec: ServeSpec, model: ModelFacts) -> Iterable[Refusal]:
    most = say("Use 1 to {most} tokens.", most=model.max_context)
    if spec.context is not None and spec.context < 1:
        yield Refusal("context", say("A context has at least one token."), most)
    elif spec.context is not None and spec.context > model.max_context:
        why = say(
            "The model was made for at most {most} tokens; {wanted} are asked for.",
            most=model.max_context,
            wanted=spec.context,
        )
        yield Refusal("context", why, most)
