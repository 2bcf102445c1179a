"""The files that hold the weights of a model: which there must be, which there are, and whether each is whole."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from console.serving.folder import Folder
from console.serving.problems import Problems, Trap, pointer
from console.serving.shards import LFS_POINTER, read_shard
from console.text import say

INDEX = "model.safetensors.index.json"
INDEXES = ".safetensors.index.json"
"""How the name of an index ends; Ascend's tool calls its own quant_model_weights.safetensors.index.json."""
SINGLE = "model.safetensors"
NUMBERED = re.compile(r"(.+)-(\d+)-of-(\d+)\.safetensors$")


@dataclass(frozen=True)
class Weights:
    """Bytes of all shards that are there, numbers in all tensors that can be read, and how many in each format."""

    bytes: int = 0
    parameters: int = 0
    types: Mapping[str, int] = field(default_factory=dict)


def read_json(files: Folder, name: str, there: Mapping[str, int], problems: Problems, trap: Trap) -> Any:
    """The JSON object in a file; None, with the problem noted, when there is none."""
    why = say("vLLM reads it before it loads anything.")
    if name not in there:
        problems.error(
            trap, say("{name} is missing.", name=name), why, say("Copy the whole model folder, not only the weights.")
        )
        return None
    try:
        read = files.read(name)
        if read.startswith(LFS_POINTER):
            problems.found.append(pointer(name))
            return None
        found = json.loads(read)
    except (OSError, ValueError) as error:
        seen = say("{name} cannot be read: {error}.", name=name, error=str(error)[:200])
        problems.error(trap, seen, why, say("Copy it again."))
        return None
    if not isinstance(found, dict):
        problems.error(trap, say("{name} holds something else than settings.", name=name), why, say("Copy it again."))
        return None
    return found


def look(files: Folder, there: Mapping[str, int], problems: Problems) -> Weights:
    """Look into every shard that is there (name -> bytes) and note what is missing, cut off or from elsewhere."""
    index = index_of(there)
    holds: Mapping[str, Any] = {}
    if index:
        read = read_json(files, index, there, problems, Trap.INDEX)
        if read is None:
            return Weights()
        named = read.get("weight_map")
        if not isinstance(named, dict):
            problems.error(
                Trap.INDEX,
                say("{name} does not say which shard holds what.", name=index),
                say("vLLM reads it before it loads anything."),
                say("Copy it again."),
            )
            return Weights()
        holds, shards = named, sorted({str(shard) for shard in named.values()})
    else:
        shards = [SINGLE] if SINGLE in there else list(_numbered(there))
    _look_for_missing([name for name in shards if name not in there], len(shards), there, problems)
    if not shards:
        _no_weights(there, problems)
    return _read_all(files, {name: there[name] for name in shards if name in there}, holds, index, problems)


def index_of(there: Mapping[str, int]) -> str:
    """The name of the index in a folder; "" when there is none."""
    return INDEX if INDEX in there else next((name for name in sorted(there) if name.endswith(INDEXES)), "")


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


def _look_for_missing(missing: Sequence[str], count: int, there: Mapping[str, int], problems: Problems) -> None:
    spelled = {name.lower(): name for name in there}
    other = [name for name in missing if name.lower() in spelled]
    if other:
        problems.error(
            Trap.OTHER_CASE,
            say("The index names {name}, the folder has {other}.", name=other[0], other=spelled[other[0].lower()]),
            say("Linux tells capital and small letters apart, so vLLM does not find {count} files.", count=len(other)),
            say("Rename the files as the index spells them."),
        )
    gone = [name for name in missing if name not in other]
    if gone:
        names = ", ".join(gone[:5]) + (" …" if len(gone) > 5 else "")
        problems.error(
            Trap.MISSING_SHARDS,
            say("{count} of {all} shards are missing: {names}.", count=len(gone), all=count, names=names),
            say("vLLM needs every one of them."),
            say("Copy them too."),
        )


def _read_all(
    files: Folder, shards: Mapping[str, int], holds: Mapping[str, Any], index: str, problems: Problems
) -> Weights:
    """Look into each shard; `holds` says which tensor the index expects in which of them."""
    parameters, strange = 0, set()
    types: Counter[str] = Counter()
    read = {name: read_shard(files, name, size) for name, size in shards.items()}
    for shard in read.values():
        parameters += sum(shard.tensors.values())
        types.update(shard.types)
        if shard.problem:
            problems.found.append(shard.problem)
    for tensor, name in holds.items():
        if name in read and not read[name].problem and tensor not in read[name].tensors:
            strange.add(name)
    if strange:
        names = ", ".join(sorted(strange)[:5])
        problems.error(
            Trap.MIXED_SHARDS,
            say("{names} lack tensors that {index} expects in them.", names=names, index=index),
            say("The files come from different downloads, and the model would be half of one and half of another."),
            say("Copy the model again."),
        )
    return Weights(sum(shards.values()), parameters, types)


def _no_weights(there: Mapping[str, int], problems: Problems) -> None:
    fix = say("Get the safetensors version of this model.")
    if any(name.endswith(".gguf") for name in there):
        problems.error(
            Trap.NO_WEIGHTS, say("It holds GGUF files only."), say("vLLM on NPUs is served with safetensors."), fix
        )
    elif any(name.endswith((".bin", ".pt", ".pth")) for name in there):
        why = say("That format can run code while it is read, so the console does not serve it.")
        problems.error(Trap.NO_WEIGHTS, say("Its weights are in PyTorch's own format."), why, fix)
    else:
        problems.error(
            Trap.NO_WEIGHTS,
            say("No weights are there: neither {single} nor {index}.", single=SINGLE, index=INDEX),
            say("Without them there is nothing to load."),
            say("Copy the whole model folder."),
        )
