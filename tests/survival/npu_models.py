"""A folder that looks like a whole small model, and putting it on a host; nothing computes with it."""

import json
import struct
from pathlib import Path

from console.hosts import inventory
from console.hosts.inventory import Host

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100,
    "max_position_embeddings": 4096, "torch_dtype": "bfloat16",
}  # fmt: skip


def model(folder: Path) -> Path:
    """The folder, made."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    header = json.dumps({"a": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(12))
    return folder


def bring(host: Host, folder: Path) -> str:
    """Make it here and put it below the work folder of the host; where it lies there."""
    there = f"{host.work_folder}/models/{folder.name}"
    for file in model(folder).iterdir():
        inventory.runner(host).put(file, f"{there}/{file.name}")
    return there
