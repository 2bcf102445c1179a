"""Models and machines that the tests of serving share; sizes are those of the real checkpoints."""

from dataclasses import dataclass

from console.serving.given import Machine
from console.serving.spec import GIB, ServeSpec


@dataclass(frozen=True)
class Model:
    architecture: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    moe_intermediate: int | None
    kv_lora_rank: int | None
    qk_rope_head_dim: int | None
    vocab: int
    max_context: int
    dtype: str
    weight_bytes: int
    parameters: int
    noise: bool


SMOL = Model(
    "LlamaForCausalLM",
    576,
    30,
    9,
    3,
    64,
    1536,
    None,
    None,
    None,
    49152,
    8192,
    "bfloat16",
    269_030_016,
    134_515_008,
    False,
)
TINY_MLA = Model(
    "DeepseekV2ForCausalLM", 128, 4, 4, 4, 192, 256, 64, 512, 64, 1000, 2048, "bfloat16", 2_000_000, 0, True
)
MACHINE = Machine(cores=2, memory_available_bytes=16 * GIB, ports_in_use={8000: "nginx (pid 12)"})


def spec(**changes: object) -> ServeSpec:
    plain: dict[str, object] = {
        "backend": "local_cpu",
        "model_folder": "/data/models/smol",
        "served_name": "smol",
        "port": 8001,
        "context": 2048,
        "core_ids": (0, 1),
    }
    return ServeSpec(**(plain | changes))  # type: ignore[arg-type]
