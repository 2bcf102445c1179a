"""A folder that looks like a whole small model, and putting it on a host; nothing computes with it."""

from pathlib import Path

from console.hosts import inventory
from console.hosts.inventory import Host
from tests.pretended_machine import write_model

CONFIG: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100,
    "max_position_embeddings": 4096, "torch_dtype": "bfloat16",
}  # fmt: skip


def model(folder: Path) -> Path:
    """The folder, made."""
    return write_model(folder, CONFIG)


def bring(host: Host, folder: Path) -> str:
    """Make it here and put it below the work folder of the host; where it lies there."""
    there = f"{host.work_folder}/models/{folder.name}"
    for file in model(folder).iterdir():
        inventory.runner(host).put(file, f"{there}/{file.name}")
    return there
