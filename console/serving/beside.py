"""What lies beside the weights of a model: tokenizer, chat template, code of its own, quantization description."""

import re
from collections.abc import Mapping
from typing import Any

from console.serving.folder import Folder
from console.serving.problems import Problems, Trap, pointer
from console.serving.shards import LFS_POINTER
from console.serving.weight_files import read_json
from console.text import say

TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "tiktoken.model")
DESCRIPTION = "quant_model_description.json"
"""The only name under which the plugin looks for it (get_config_filenames of its AscendQuantConfig)."""
DESCRIPTIONS = re.compile(r"quant_model_description.*\.json$")
TOOL_WEIGHTS = re.compile(r"quant_model_weights?[-.].*safetensors$")
UNFINISHED = (".part", ".incomplete", ".tmp", ".aria2", ".crdownload")
DOWNLOADS = ".cache/huggingface/download"


def look_at_tokenizer(files: Folder, there: Mapping[str, int], problems: Problems) -> None:
    tokenizers = [name for name in there if name in TOKENIZERS or name.endswith(".tiktoken")]
    if not tokenizers:
        problems.error(
            Trap.TOKENIZER,
            say("No tokenizer is there (one of {names}).", names=", ".join(TOKENIZERS)),
            say("Without it no text can be turned into tokens."),
            say("Copy the whole model folder."),
        )
        return
    problems.found += [pointer(name) for name in tokenizers if _begins(files, name).startswith(LFS_POINTER)]
    if any(name.startswith("chat_template") for name in there):
        return
    settings = read_json(files, "tokenizer_config.json", there, Problems(), Trap.TOKENIZER) or {}
    if not settings.get("chat_template"):
        problems.warn(
            Trap.CHAT_TEMPLATE,
            say("It has no chat template."),
            say("Chat requests will be refused; it may be a base model."),
            say("Take the chat version of the model, or give vLLM a template with --chat-template."),
        )


def custom_code(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Files with code of the model's own that config.json names, as NAME.py or OTHER/MODEL--NAME.py."""
    stated = config.get("auto_map")
    named = stated.values() if isinstance(stated, dict) else ()
    return tuple(dict.fromkeys(f"{str(one).rsplit('.', 1)[0]}.py" for one in named if isinstance(one, str)))


def look_at_code(names: tuple[str, ...], there: Mapping[str, int], problems: Problems) -> None:
    if not names:
        return
    listed = ", ".join(names)
    gone = [name for name in names if name not in there]
    problems.warn(
        Trap.CUSTOM_CODE,
        say("config.json names code of the model's own: {names}.", names=listed)
        if not gone
        else say("config.json names code of the model's own, and {gone} is not there.", gone=", ".join(gone)),
        say("Where the release of vLLM has no code for this architecture it needs that, with --trust-remote-code."),
        say(
            "Read the code first: it runs with the rights of the server. Without the switch vLLM uses its own or stops."
        ),
    )


def look_at_description(there: Mapping[str, int], problems: Problems) -> None:
    """Ascend's tool leaves weights that nothing but its description explains."""
    if DESCRIPTION in there:
        return
    others = sorted(name for name in there if DESCRIPTIONS.match(name))
    why = say("The plugin knows the quantization by the file {name} alone, else it loads noise or stops.",
              name=DESCRIPTION)  # fmt: skip
    if others:
        seen = say("The quantization is described in {other}.", other=others[0])
        problems.error(Trap.DESCRIPTION, seen, why, say("Rename it to {name}.", name=DESCRIPTION))
    elif any(TOOL_WEIGHTS.match(name) for name in there):
        seen = say("The weights were quantized by Ascend's tool, and their description is missing.")
        problems.error(Trap.DESCRIPTION, seen, why, say("Copy {name} too.", name=DESCRIPTION))


def look_at_downloads(folder: str, files: Folder, there: Mapping[str, int], problems: Problems) -> None:
    fix = say("Let the download go on to its end, or remove what is left of it.")
    if folder.rstrip("/").endswith(UNFINISHED):
        problems.error(
            Trap.UNFINISHED,
            say("The name of the folder says that the model in it is not finished."),
            say("It may change while vLLM reads it."),
            fix,
        )
    try:
        below = files.list(DOWNLOADS)
    except OSError:
        below = {}  # made by something else than Hugging Face's own tool
    for name in [name for name in (*there, *below) if name.endswith(UNFINISHED)]:
        seen = say("{name} looks like an unfinished download.", name=name)
        problems.warn(Trap.UNFINISHED, seen, say("A file of the model may be missing."), fix)


def _begins(files: Folder, name: str) -> bytes:
    try:
        return files.read(name, 0, 64)
    except OSError:
        return b""  # said already, where permissions are looked at
