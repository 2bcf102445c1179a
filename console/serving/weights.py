"""What a folder of weights says about itself, and what it lacks, without loading a single tensor.

The sizes come from config.json as Hugging Face writes it, the number of parameters from the headers of the shards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from console.serving.beside import custom_code, look_at_code, look_at_description, look_at_downloads, look_at_tokenizer
from console.serving.figures import figures, quantization
from console.serving.folder import Folder, LocalFolder
from console.serving.problems import Problem as Problem
from console.serving.problems import Problems, Trap
from console.serving.weight_files import INDEX as INDEX
from console.serving.weight_files import SINGLE as SINGLE
from console.serving.weight_files import look, read_json
from console.text import Text, say

MARK = "pilot-model.json"


@dataclass(frozen=True)
class ModelFolder:
    """A model by its folder. Sizes in numbers, bytes where named so; None = the model has no such part.

    noise        the weights are random
    types        how many numbers are stored in each format of the headers (BF16, I8)
    links        files that are links to somewhere outside the folder, with where they lead
    custom_code  Python files that config.json names
    The figures are 0 or "" where an error kept them from being read.
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
    types: Mapping[str, int] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    custom_code: tuple[str, ...] = ()

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
    return _only(
        path,
        Trap.NO_FOLDER,
        say("{folder} is a file.", folder=path),
        say("Name the folder that holds config.json and the weights."),
    )


def absent(folder: str) -> ModelFolder:
    return _only(
        folder,
        Trap.NO_FOLDER,
        say("There is no folder {folder}.", folder=folder),
        say("Check the path, or get the model to the host first."),
    )


def inspect(folder: str, files: Folder) -> ModelFolder:
    """Look through a folder by way of `files`. Never raises for what the folder holds."""
    try:
        there, closed, links = files.list(), files.unreadable(), files.links()
    except OSError as error:
        seen = say("{folder} cannot be read: {error}.", folder=folder, error=error.strerror or str(error))
        return _only(folder, Trap.PERMISSIONS, seen, _open_it(folder))
    problems = Problems()
    _look_at_path(folder, problems)
    if closed:
        problems.error(
            Trap.PERMISSIONS,
            say("These files may not be read: {names}.", names=", ".join(sorted(closed))),
            say("The server runs as the same user and could not open them either."),
            _open_it(folder),
        )
    config = read_json(files, "config.json", there, problems, Trap.CONFIG)
    sizes = _sizes(config, there, problems) if config is not None else {}
    code = custom_code(config or {})
    look_at_tokenizer(files, there, problems)
    look_at_code(code, there, problems)
    look_at_description(there, problems)
    look_at_downloads(folder, files, there, problems)
    found = look(files, {name: there[name] for name in there if name not in closed}, problems)
    mark = read_json(files, MARK, there, Problems(), Trap.CONFIG) if MARK in there else None
    return ModelFolder(
        folder,
        tuple(problems.found),
        weight_bytes=found.bytes,
        parameters=found.parameters,
        noise=bool(mark and mark.get("noise")),
        types=dict(found.types),
        links=links,
        custom_code=code,
        **sizes,
    )


def _only(folder: str, trap: Trap, seen: Text, fix: Text) -> ModelFolder:
    return ModelFolder(folder, (Problem(trap, True, seen, say("There is nothing to serve from."), fix),))


def _open_it(folder: str) -> Text:
    return say("Check the permissions, for example with: {command}", command=f"chmod -R a+rX '{folder}'")


def _sizes(config: Mapping[str, Any], there: Mapping[str, int], problems: Problems) -> dict[str, Any]:
    """The figures of config.json; of a model with several parts those of its text part."""
    text = config.get("text_config")
    own = {**config, **text} if isinstance(text, dict) else config
    architectures = config.get("architectures")
    fix = say("Take config.json of the model as it was published.")
    if not isinstance(architectures, list) or not architectures:
        seen = say("config.json names no architecture.")
        problems.error(Trap.CONFIG, seen, say("Without it vLLM cannot know how to load the model."), fix)
        return {}
    try:
        return {**figures(own, str(architectures[0])), "quantization": quantization(own, there)}
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        seen = say("config.json lacks what decides about size and parallelism: {what}.", what=str(error))
        problems.error(Trap.CONFIG, seen, say("Without it nobody can say whether the model fits."), fix)
        return {}


def _look_at_path(folder: str, problems: Problems) -> None:
    fix = say("Rename the folder, with plain English letters, digits and dashes.")
    if any(ord(mark) < 32 or ord(mark) == 127 for mark in folder):
        seen = say("The path contains a control character, such as a line break.")
        problems.error(Trap.PATH, seen, say("No command could name it safely."), fix)
    elif not folder.isascii() or " " in folder:
        seen = say("The path contains blanks or characters beyond plain English letters.")
        why = say("That works here, but other tools, Docker among them, may stumble over it.")
        problems.warn(Trap.PATH, seen, why, fix)
