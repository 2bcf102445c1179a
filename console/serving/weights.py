"""What a folder of weights says about itself, and what it lacks, without loading a single tensor.

The sizes come from config.json as Hugging Face writes it; the weights from the headers of the safetensors files, whose
first eight bytes give the length of a JSON header with every tensor's type, shape and offsets.
"""

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from console.text import Text, say

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
MARK = "pilot-model.json"
MOST_HEADER = 100_000_000
"""Bytes; a longer header is not one."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
UNFINISHED = (".part", ".incomplete", ".tmp", ".aria2", ".crdownload")
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "tiktoken.model")


class Folder(Protocol):
    """Reading one folder, here or far away. Every method raises OSError when it cannot."""

    def list(self) -> Mapping[str, int]:
        """Names of the files in it -> their sizes in bytes."""
        ...

    def read(self, name: str, offset: int = 0, length: int = 50_000_000) -> bytes:
        """At most `length` bytes of a file from `offset` on."""
        ...


@dataclass(frozen=True)
class LocalFolder:
    """A folder of this machine. Satisfies Folder."""

    path: Path

    def list(self) -> Mapping[str, int]:
        return {one.name: one.stat().st_size for one in sorted(self.path.iterdir()) if one.is_file()}

    def read(self, name: str, offset: int = 0, length: int = 50_000_000) -> bytes:
        with (self.path / name).open("rb") as file:
            file.seek(offset)
            return file.read(length)


@dataclass(frozen=True)
class Problem:
    """Something about the folder; with an error it must not be started."""

    text: Text
    is_error: bool


@dataclass(frozen=True)
class ModelFolder:
    """A model by its folder. Sizes in numbers, bytes where named so; None = the model has no such part.

    noise = the weights are random. The figures are 0 or "" where an error kept them from being read.
    """

    folder: str
    problems: Sequence[Problem] = ()
    architecture: str = ""
    hidden: int = 0
    layers: int = 0
    heads: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    intermediate: int = 0
    moe_intermediate: int | None = None
    kv_lora_rank: int | None = None
    qk_rope_head_dim: int | None = None
    vocab: int = 0
    max_context: int = 0
    dtype: str = ""
    quantization: str | None = None
    weight_bytes: int = 0
    parameters: int = 0
    noise: bool = False

    @property
    def name(self) -> str:
        return self.folder.rstrip("/").rsplit("/", 1)[-1]

    @property
    def usable(self) -> bool:
        return not any(problem.is_error for problem in self.problems)


def inspect_model(folder: str) -> ModelFolder:
    """Look through a folder of this machine."""
    path = Path(folder)
    if path.is_file():
        return _only(
            folder, say("{folder} is a file. Name the folder that holds config.json and the weights.", folder=folder)
        )
    if not path.is_dir():
        return _only(folder, say("There is no folder {folder}.", folder=folder))
    return inspect(folder, LocalFolder(path))


def inspect(folder: str, files: Folder) -> ModelFolder:
    """Look through a folder by way of `files`. Never raises for what the folder holds."""
    try:
        there = files.list()
    except OSError as error:
        return _only(
            folder,
            say(
                "{folder} cannot be read: {error}. Check its permissions.",
                folder=folder,
                error=error.strerror or str(error),
            ),
        )
    problems = _Problems()
    config = _json(files, "config.json", there, problems)
    sizes = _sizes(config, problems) if config is not None else {}
    _look_at_tokenizer(files, there, problems)
    for name in there:
        if name.endswith(UNFINISHED):
            problems.warn(say("{name} looks like an unfinished download.", name=name))
    weight_bytes, parameters = _weights(files, there, problems)
    mark = _json(files, MARK, there, _Problems()) if MARK in there else None
    return ModelFolder(
        folder,
        tuple(problems.found),
        weight_bytes=weight_bytes,
        parameters=parameters,
        noise=bool(mark and mark.get("noise")),
        **sizes,
    )


@dataclass
class _Problems:
    found: list[Problem] = field(default_factory=list)

    def error(self, text: Text) -> None:
        self.found.append(Problem(text, is_error=True))

    def warn(self, text: Text) -> None:
        self.found.append(Problem(text, is_error=False))


def _only(folder: str, text: Text) -> ModelFolder:
    return ModelFolder(folder, (Problem(text, is_error=True),))


def _json(files: Folder, name: str, there: Mapping[str, int], problems: _Problems) -> dict[str, Any] | None:
    """The JSON object in a file; None, with the problem noted, when there is none."""
    if name not in there:
        problems.error(say("{name} is missing. Copy the whole model folder, not only the weights.", name=name))
        return None
    try:
        read = files.read(name)
        if read.startswith(LFS_POINTER):
            problems.error(_pointer(name))
            return None
        found = json.loads(read)
    except (OSError, ValueError) as error:
        problems.error(say("{name} cannot be read: {error}. Copy it again.", name=name, error=str(error)[:200]))
        return None
    if not isinstance(found, dict):
        problems.error(say("{name} holds something else than settings. Copy it again.", name=name))
        return None
    return found


def _pointer(name: str) -> Text:
    return say(
        "{name} is only a pointer of Git LFS, not the file itself. Fetch the files with `git lfs pull`, or "
        "download the model again.",
        name=name,
    )


def _sizes(config: Mapping[str, Any], problems: _Problems) -> dict[str, Any]:
    """The figures of config.json; of a model with several parts those of its text part."""
    text = config.get("text_config")
    own = {**config, **text} if isinstance(text, dict) else config
    architectures = config.get("architectures")
    if not isinstance(architectures, list) or not architectures:
        problems.error(say("config.json names no architecture, so vLLM cannot know how to load it."))
        return {}
    try:
        return _figures(own, str(architectures[0]))
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        problems.error(say("config.json lacks what decides about size and parallelism: {what}.", what=str(error)))
        return {}


def _figures(own: Mapping[str, Any], architecture: str) -> dict[str, Any]:
    heads, hidden = int(own["num_attention_heads"]), int(own["hidden_size"])
    quantization = own.get("quantization_config")
    latent = own.get("kv_lora_rank")
    return {
        "architecture": architecture,
        "hidden": hidden,
        "layers": int(own["num_hidden_layers"]),
        "heads": heads,
        "kv_heads": int(own.get("num_key_value_heads") or heads),
        "head_dim": int(own.get("head_dim") or hidden // heads),
        "intermediate": int(own["intermediate_size"]),
        "moe_intermediate": _whole(own.get("moe_intermediate_size")),
        "kv_lora_rank": _whole(latent),
        "qk_rope_head_dim": _whole(own.get("qk_rope_head_dim")) if latent else None,
        "vocab": int(own["vocab_size"]),
        "max_context": int(own["max_position_embeddings"]),
        "dtype": str(own.get("dtype") or own.get("torch_dtype") or ""),
        "quantization": str(quantization.get("quant_method")) if isinstance(quantization, dict) else None,
    }


def _whole(value: object) -> int | None:
    return None if value is None else int(str(value))


def _look_at_tokenizer(files: Folder, there: Mapping[str, int], problems: _Problems) -> None:
    if not any(name in there for name in TOKENIZERS):
        problems.error(
            say("No tokenizer is there (one of {names}). Copy the whole model folder.", names=", ".join(TOKENIZERS))
        )
        return
    if any(name.startswith("chat_template") for name in there):
        return
    settings = _json(files, "tokenizer_config.json", there, _Problems()) or {}
    if not settings.get("chat_template"):
        problems.warn(say("It has no chat template, so chat requests will be refused; it may be a base model."))


def _weights(files: Folder, there: Mapping[str, int], problems: _Problems) -> tuple[int, int]:
    """Bytes of all shards and numbers in all tensors, (0, 0) where they cannot be used."""
    if INDEX in there:
        index = _json(files, INDEX, there, problems)
        named = index.get("weight_map") if index else None
        if not isinstance(named, dict):
            if index is not None:
                problems.error(say("{name} does not say which shard holds what. Copy it again.", name=INDEX))
            return 0, 0
        shards = sorted({str(shard) for shard in named.values()})
    else:
        shards = [name for name in there if name == SINGLE] or [n for n in there if n.endswith(".safetensors")]
    missing = [name for name in shards if name not in there]
    if missing:
        problems.error(
            say(
                "{count} of {all} shards are missing: {names}. Copy them too.",
                count=len(missing),
                all=len(shards),
                names=", ".join(missing[:5]) + (" …" if len(missing) > 5 else ""),
            )
        )
    if not shards:
        problems.error(_no_weights(there))
    counts = [_shard(files, name, there[name], problems) for name in shards if name in there]
    return sum(there[name] for name in shards if name in there), sum(counts)


def _no_weights(there: Mapping[str, int]) -> Text:
    if any(name.endswith(".gguf") for name in there):
        return say("It holds GGUF files only. Serve a folder with safetensors instead.")
    if any(name.endswith((".bin", ".pt", ".pth")) for name in there):
        return say(
            "Its weights are in PyTorch's own format, which can run code while it is read. Get the "
            "safetensors version of this model."
        )
    return say("No weights are there: neither {single} nor {index}.", single=SINGLE, index=INDEX)


def _shard(files: Folder, name: str, size: int, problems: _Problems) -> int:
    """How many numbers one shard holds; 0, with the problem noted, when it is not whole."""
    try:
        start = files.read(name, 0, 64)
        if start.startswith(LFS_POINTER):
            problems.error(_pointer(name))
            return 0
        length = struct.unpack("<Q", start[:8])[0]
        if not 2 <= length <= MOST_HEADER:
            raise ValueError("it does not begin like one")
        header = json.loads(files.read(name, 8, length))
        tensors = [one for key, one in header.items() if key != "__metadata__"]
        whole = 8 + length + max((int(one["data_offsets"][1]) for one in tensors), default=0)
        count = sum(math.prod(map(int, one["shape"])) for one in tensors)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        problems.error(
            say("{name} is not a whole safetensors file ({error}). Copy it again.", name=name, error=str(error)[:100])
        )
        return 0
    if whole != size:
        problems.error(
            say(
                "{name} has {size} bytes where its own header says {whole}: it was cut off or is still being "
                "copied. Copy it again.",
                name=name,
                size=str(size),
                whole=str(whole),
            )
        )
        return 0
    return count
