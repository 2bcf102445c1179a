"""What a folder of weights says about itself, and what it lacks, without loading a single tensor.

The sizes come from config.json as Hugging Face writes it, the number of parameters from the headers of the shards.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from console.serving.figures import figures, quantization
from console.serving.folder import Folder, LocalFolder
from console.serving.shards import LFS_POINTER, pointer, read_shard
from console.text import Text, say

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
MARK = "pilot-model.json"
UNFINISHED = (".part", ".incomplete", ".tmp", ".aria2", ".crdownload")
DOWNLOADS = ".cache/huggingface/download"
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "tiktoken.model")
NUMBERED = re.compile(r"(.+)-(\d+)-of-(\d+)\.safetensors$")


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
        return is_a_file(folder)
    if not path.is_dir():
        return absent(folder)
    return inspect(folder, LocalFolder(path))


def is_a_file(path: str) -> ModelFolder:
    return _only(path, say("{folder} is a file. Name the folder that holds config.json and the weights.", folder=path))


def absent(folder: str) -> ModelFolder:
    return _only(folder, say("There is no folder {folder}.", folder=folder))


def inspect(folder: str, files: Folder) -> ModelFolder:
    """Look through a folder by way of `files`. Never raises for what the folder holds."""
    try:
        there, closed = files.list(), files.unreadable()
    except OSError as error:
        why = error.strerror or str(error)
        return _only(folder, say("{folder} cannot be read: {error}. Check its permissions.", folder=folder, error=why))
    problems = _Problems()
    _look_at_path(folder, problems)
    if closed:
        names = ", ".join(sorted(closed))
        problems.error(say("These files may not be read: {names}. Check their permissions.", names=names))
    config = _json(files, "config.json", there, problems)
    sizes = _sizes(config, there, problems) if config is not None else {}
    _look_at_tokenizer(files, there, problems)
    _look_at_downloads(folder, files, there, problems)
    weight_bytes, parameters = _weights(files, {name: there[name] for name in there if name not in closed}, problems)
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
            problems.error(pointer(name))
            return None
        found = json.loads(read)
    except (OSError, ValueError) as error:
        problems.error(say("{name} cannot be read: {error}. Copy it again.", name=name, error=str(error)[:200]))
        return None
    if not isinstance(found, dict):
        problems.error(say("{name} holds something else than settings. Copy it again.", name=name))
        return None
    return found


def _sizes(config: Mapping[str, Any], there: Mapping[str, int], problems: _Problems) -> dict[str, Any]:
    """The figures of config.json; of a model with several parts those of its text part."""
    text = config.get("text_config")
    own = {**config, **text} if isinstance(text, dict) else config
    architectures = config.get("architectures")
    if not isinstance(architectures, list) or not architectures:
        problems.error(say("config.json names no architecture, so vLLM cannot know how to load it."))
        return {}
    try:
        return {**figures(own, str(architectures[0])), "quantization": quantization(own, there)}
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        problems.error(say("config.json lacks what decides about size and parallelism: {what}.", what=str(error)))
        return {}


def _look_at_path(folder: str, problems: _Problems) -> None:
    if any(ord(mark) < 32 or ord(mark) == 127 for mark in folder):
        problems.error(say("The path contains a control character, such as a line break. Rename the folder."))
    elif not folder.isascii() or " " in folder:
        problems.warn(
            say(
                "The path contains blanks or characters beyond plain English letters. That works here, but other "
                "tools, Docker among them, may stumble over it."
            )
        )


def _look_at_downloads(folder: str, files: Folder, there: Mapping[str, int], problems: _Problems) -> None:
    if folder.rstrip("/").endswith(UNFINISHED):
        problems.error(say("The name of the folder says that the model in it is not finished."))
    try:
        below = files.list(DOWNLOADS)
    except OSError:
        below = {}  # made by something else than Hugging Face's own tool
    for name in [name for name in (*there, *below) if name.endswith(UNFINISHED)]:
        problems.warn(say("{name} looks like an unfinished download.", name=name))


def _look_at_tokenizer(files: Folder, there: Mapping[str, int], problems: _Problems) -> None:
    tokenizers = [name for name in there if name in TOKENIZERS or name.endswith(".tiktoken")]
    if not tokenizers:
        problems.error(
            say("No tokenizer is there (one of {names}). Copy the whole model folder.", names=", ".join(TOKENIZERS))
        )
        return
    for name in tokenizers:
        if _begins(files, name).startswith(LFS_POINTER):
            problems.error(pointer(name))
    if any(name.startswith("chat_template") for name in there):
        return
    settings = _json(files, "tokenizer_config.json", there, _Problems()) or {}
    if not settings.get("chat_template"):
        problems.warn(say("It has no chat template, so chat requests will be refused; it may be a base model."))


def _begins(files: Folder, name: str) -> bytes:
    try:
        return files.read(name, 0, 64)
    except OSError:
        return b""  # said already, where permissions are looked at


def _weights(files: Folder, there: Mapping[str, int], problems: _Problems) -> tuple[int, int]:
    """Bytes of all shards that are there, and numbers in all tensors that can be read."""
    holds: Mapping[str, Any] = {}
    if INDEX in there:
        index = _json(files, INDEX, there, problems)
        named = index.get("weight_map") if index else None
        if not isinstance(named, dict):
            if index is not None:
                problems.error(say("{name} does not say which shard holds what. Copy it again.", name=INDEX))
            return 0, 0
        holds = named
        shards = sorted({str(shard) for shard in named.values()})
    else:
        shards = [SINGLE] if SINGLE in there else list(_numbered(there))
    missing = [name for name in shards if name not in there]
    if missing:
        problems.error(_missing(missing, len(shards)))
    if not shards:
        problems.error(_no_weights(there))
    return _read_all(files, {name: there[name] for name in shards if name in there}, holds, problems)


def _numbered(there: Mapping[str, int]) -> Iterator[str]:
    """Without an index, the shards there are and those that their names promise: model-00001-of-00004.safetensors."""
    found = [name for name in there if name.endswith(".safetensors") and not name.startswith("adapter_")]
    promised = {
        f"{match[1]}-{number:0{len(match[2])}}-of-{match[3]}.safetensors"
        for name in found
        if (match := NUMBERED.match(name)) and int(match[3]) < 10_000
        for number in range(1, int(match[3]) + 1)
    }
    yield from sorted({*found, *promised})


def _read_all(
    files: Folder, shards: Mapping[str, int], holds: Mapping[str, Any], problems: _Problems
) -> tuple[int, int]:
    """Look into each shard; `holds` says which tensor the index expects in which of them."""
    parameters, strange = 0, set()
    read = {name: read_shard(files, name, size) for name, size in shards.items()}
    for shard in read.values():
        parameters += sum(shard.tensors.values())
        if shard.problem:
            problems.error(shard.problem)
    for tensor, name in holds.items():
        if name in read and not read[name].problem and tensor not in read[name].tensors:
            strange.add(name)
    if strange:
        problems.error(
            say(
                "{names} lack tensors that {index} expects in them: the files come from different downloads. "
                "Copy the model again.",
                names=", ".join(sorted(strange)[:5]),
                index=INDEX,
            )
        )
    return sum(shards.values()), parameters


def _missing(names: Sequence[str], count: int) -> Text:
    return say(
        "{count} of {all} shards are missing: {names}. Copy them too.",
        count=len(names),
        all=count,
        names=", ".join(names[:5]) + (" …" if len(names) > 5 else ""),
    )


def _no_weights(there: Mapping[str, int]) -> Text:
    if any(name.endswith(".gguf") for name in there):
        return say("It holds GGUF files only. Serve a folder with safetensors instead.")
    if any(name.endswith((".bin", ".pt", ".pth")) for name in there):
        return say(
            "Its weights are in PyTorch's own format, which can run code while it is read. Get the "
            "safetensors version of this model."
        )
    return say("No weights are there: neither {single} nor {index}.", single=SINGLE, index=INDEX)
