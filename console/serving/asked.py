"""What one vLLM server is asked to be, as a person chose it: one value that can be stored and sent."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from types import NoneType

from console.errors import InvalidInput
from console.text import Text, say

AUTO = "auto"
"""The number format that the model itself names."""


@dataclass(frozen=True, kw_only=True)
class ServeSpec:
    """One server, as chosen by a person. What stands at its default is left to the engine.

    context        tokens of prompt and answer together; None = the model's own maximum
    kv_space_gib   GiB of key/value cache of each rank (backend local_cpu)
    max_num_seqs   requests worked on at the same time; None = the engine's default
    core_ids       CPU ids to divide between the ranks (backend local_cpu, tensor_parallel > 1)
    api_key        whether clients must send a key; the key itself never stands here
    extra_env      more environment for the engine, never secrets
    release        the vllm-ascend release it is for, chip: as npu-smi calls it (Ascend backends)
    device_ids     logical ids of the NPUs it may use; empty = all that are there
    utilization    share of a card's memory it may take
    quantization   the value of --quantization; "" = what the weights themselves say
    compilation, speculative, additional_config   what --compilation-config and the others take, as JSON values
    prefix_caching, chunked_prefill, async_scheduling   None = the engine's default
    lora_modules   name=path of each adapter
    extra_args     options that have no field of their own, word by word
    image          container image; "" = that of the release and the chip (backend ascend_docker, as what follows)
    mounts         more volumes, each as host:container[:ro]
    shm_gib        GiB of shared memory; None = as the vendor's documentation has it
    network        "" = only the port is published; "host" = the container sees the host's network
    """

    backend: str
    model_folder: str
    served_name: str
    port: int
    host: str = "127.0.0.1"
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    dtype: str = "bfloat16"
    context: int | None = None
    kv_space_gib: float = 1
    max_num_seqs: int | None = None
    core_ids: tuple[int, ...] = ()
    api_key: bool = False
    extra_env: Mapping[str, str] = field(default_factory=dict)
    release: str = ""
    chip: str = ""
    device_ids: tuple[int, ...] = ()
    data_parallel: int = 1
    expert_parallel: bool = False
    utilization: float | None = None
    max_batched_tokens: int | None = None
    quantization: str = ""
    enforce_eager: bool = False
    compilation: Mapping[str, object] = field(default_factory=dict)
    prefix_caching: bool | None = None
    chunked_prefill: bool | None = None
    async_scheduling: bool | None = None
    speculative: Mapping[str, object] = field(default_factory=dict)
    reasoning_parser: str = ""
    tool_parser: str = ""
    tokenizer_mode: str = ""
    trust_remote_code: bool = False
    lora_modules: tuple[str, ...] = ()
    additional_config: Mapping[str, object] = field(default_factory=dict)
    extra_args: tuple[str, ...] = ()
    image: str = ""
    mounts: tuple[str, ...] = ()
    shm_gib: int | None = None
    network: str = ""

    @property
    def ranks(self) -> int:
        """Devices it takes: DP x TP x PP."""
        return self.data_parallel * self.tensor_parallel * self.pipeline_parallel

    def to_json(self) -> dict[str, object]:
        """What was there from the beginning always, the rest where it was chosen: a spec stays one text for ever."""
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}
        untouched = {key: list(value) if isinstance(value, tuple) else value for key, value in DEFAULTS.items()}
        return {key: value for key, value in plain.items() if key in FIRST or value != untouched[key]}

    @staticmethod
    def from_json(stored: Mapping[str, object]) -> "ServeSpec":
        """The inverse of `to_json`. Raises InvalidInput naming a key that is unknown, missing or of a wrong type."""
        known = {each.name for each in fields(ServeSpec)}
        for key in stored:
            if key not in known:
                raise InvalidInput(say("The server settings have an unknown entry '{key}'. Remove it.", key=str(key)))
        for key in ("backend", "model_folder", "served_name", "port"):
            if key not in stored:
                raise InvalidInput(say("The server settings lack the entry '{key}'. Add it.", key=key))
        return ServeSpec(**{key: _typed(key, value) for key, value in stored.items()})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Refusal:
    """One setting that cannot work: which, why, and what to choose instead (if there is something)."""

    field: str
    reason: Text
    instead: Text | None = None


FIRST = frozenset((
    "backend", "model_folder", "served_name", "port", "host", "tensor_parallel", "pipeline_parallel", "dtype",
    "context", "kv_space_gib", "max_num_seqs", "core_ids", "api_key", "extra_env",
))  # fmt: skip
"""Fields that a spec had from the beginning."""
DEFAULTS: Mapping[str, object] = asdict(ServeSpec(backend="", model_folder="", served_name="", port=0))
"""Field -> its value where nobody chose one."""


def _only(*types: type) -> Callable[[object], bool]:
    return lambda value: type(value) in types  # exact: True is not 1


def _each(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list | tuple) and all(type(one) is kind for one in value)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping) and all(type(key) is str for key in value)


def _is_words(value: object) -> bool:
    return isinstance(value, Mapping) and all(type(one) is str for pair in value.items() for one in pair)


_INT, _MAYBE_INT, _MAYBE_BOOL = _only(int), _only(int, NoneType), _only(bool, NoneType)
_FITS: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(("port", "tensor_parallel", "pipeline_parallel", "data_parallel"), _INT),
    **dict.fromkeys(("context", "max_num_seqs", "max_batched_tokens", "shm_gib"), _MAYBE_INT),
    **dict.fromkeys(("prefix_caching", "chunked_prefill", "async_scheduling"), _MAYBE_BOOL),
    **dict.fromkeys(("api_key", "expert_parallel", "enforce_eager", "trust_remote_code"), _only(bool)),
    **dict.fromkeys(("core_ids", "device_ids"), _each(int)),
    **dict.fromkeys(("lora_modules", "extra_args", "mounts"), _each(str)),
    **dict.fromkeys(("compilation", "speculative", "additional_config"), _is_mapping),
    "extra_env": _is_words,
    "kv_space_gib": _only(int, float),
    "utilization": _only(int, float, NoneType),
}


def _typed(key: str, value: object) -> object:
    if _FITS.get(key, _only(str))(value):
        if isinstance(value, list | tuple):
            return tuple(value)
        return dict(value) if isinstance(value, Mapping) else value
    raise InvalidInput(
        say("The server setting '{key}' cannot be {value}: it has the wrong type.", key=key, value=repr(value)[:80])
    )
