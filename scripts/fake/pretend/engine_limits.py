"""What stops an engine on simulated cards before it serves, in the words of the real one."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from pretend import npu_python

GIB, MIB = 2**30, 2**20
NO_DEVICE = (
    "RuntimeError: Failed to infer device type, please set the environment variable `VLLM_LOGGING_LEVEL=DEBUG` to turn "
    "on verbose logging to help debug the issue."
)


def complaint(asked: argparse.Namespace, read: dict[str, object]) -> str:
    """The last line of the real engine's log; empty when it would start."""
    if not npu_python.nodes():
        return NO_DEVICE
    return _of_plugin(asked, read) or _of_cards(asked) or _of_model(asked) or _of_memory(asked)


def model(asked: argparse.Namespace) -> str:
    return str(asked.model_tag or asked.model)


def ranks(asked: argparse.Namespace) -> int:
    return int(asked.tensor_parallel_size) * int(asked.pipeline_parallel_size)


def used(asked: argparse.Namespace) -> int:
    """How many chips it takes."""
    return ranks(asked) * int(getattr(asked, "data_parallel_size", None) or 1)


def claim_mb(asked: argparse.Namespace) -> int:
    """MiB that the engine takes on each of its chips."""
    return int(npu_python.mem_get_info(0)[1] / MIB * float(asked.gpu_memory_utilization))


def _of_plugin(asked: argparse.Namespace, read: dict[str, object]) -> str:
    """A release that insists on its keys ends with one it does not know."""
    given = getattr(asked, "additional_config", None)
    config = given if isinstance(given, dict) else {}
    known = read.get("config")
    unknown = [key for key in config if isinstance(known, dict) and key not in known]
    if read.get("strict") and unknown:
        return f"ValueError: Unknown keys in additional_config: {', '.join(sorted(unknown))}"
    return ""


def _of_cards(asked: argparse.Namespace) -> str:
    wanted, there = used(asked), npu_python.device_count()
    if wanted > there:
        return f"ValueError: World size ({wanted}) is larger than the number of available NPUs ({there}) in this node."
    return ""


def _of_model(asked: argparse.Namespace) -> str:
    folder = Path(model(asked))
    if folder.is_absolute() and not (folder / "config.json").is_file():
        return (
            f"OSError: {folder} does not appear to have a file named config.json. Checkout "
            f"'https://huggingface.co/{folder}/tree/main' for available files."
        )
    return ""


def _of_memory(asked: argparse.Namespace) -> str:
    share = float(asked.gpu_memory_utilization)
    for device in range(used(asked)):
        free, total = (part / GIB for part in npu_python.mem_get_info(device))
        if free < total * share:
            return (
                f"ValueError: Free memory on device ({free:.2f}/{total:.2f} GiB) on startup is less than desired GPU "
                f"memory utilization ({share}, {total * share:.2f} GiB). Decrease GPU memory utilization or reduce GPU "
                "memory used by other processes."
            )
        if (weights := _weight_bytes(asked) / GIB / ranks(asked)) > total * share:
            return (
                f"RuntimeError: NPU out of memory. Tried to allocate {weights - total * share:.2f} GiB "
                f"(NPU {device}; {total:.2f} GiB total capacity; {total * share:.2f} GiB already allocated)"
            )
    return ""


def _weight_bytes(asked: argparse.Namespace) -> int:
    """As the index says, else as large as the files are; nothing where weights are made up."""
    folder = Path(model(asked))
    if asked.load_format == "dummy" or not folder.is_dir():
        return 0
    try:
        told = json.loads((folder / "model.safetensors.index.json").read_text())["metadata"]["total_size"]
        return int(told)
    except (OSError, ValueError, KeyError, TypeError):
        return sum(os.path.getsize(file) for file in folder.glob("*.safetensors"))  # noqa: PTH202
