"""What is wrong with the model that a paste names: it is not there, or the chip cannot compute with its weights."""

import re
from collections.abc import Iterator

from console.catalog import flags, models, parsers
from console.errors import NotFound
from console.serving.asked import ServeSpec
from console.serving.explain_parts import Finding, Pasted, Settings
from console.text import say

_DEEPSEEK = re.compile(r"(?:deepseek-ai/)?deepseek[-_:]", re.IGNORECASE)
OTHER_MODELS = re.compile(
    r"(?:deepseek-ai/)?deepseek-(?:llm-(?:7b|67b)-(?:base|chat)|coder-[\d.]+b(?:mqa)?-(?:base|instruct)(?:-v1\.5)?"
    r"|math-7b-(?:base|instruct|rl)|vl-[\d.]+b-(?:base|chat)|vl2(?:-tiny|-small)?|prover-v[\d.]+.*|ocr(?:-2)?"
    r"|moe-16b-base|v2(?:-lite|-chat|-chat-0628)?|v2\.5-1210|coder-v2-.*|math-v2|v3-base|v3\.1-base|v3\.2-.*|r1-zero)",
    re.IGNORECASE,
)
"""DeepSeek's own models that exist although the catalog has no figures of them."""


def of_catalog(pasted: Pasted) -> models.Model | None:
    name = pasted.model.text.rstrip("/") if pasted.model else ""
    try:
        return models.find(name.rsplit("/", 1)[-1] if name.startswith("/") else name).model
    except NotFound:
        return None


def model_findings(pasted: Pasted, family: str | None, release: str) -> Iterator[Finding]:
    """A model that is not there, or whose original weights the chip cannot compute with."""
    if pasted.model is None and any(word.text.startswith("--config") for word in pasted.words):
        return
    if pasted.model is None:
        yield Finding(pasted.command, say("No model is named."), say("Write the folder of a model behind vllm serve."))
        return
    name = pasted.model.text
    if re.match(r"[A-Za-z]:\\", pasted.model.raw.lstrip("'\"")):
        why = say("It is a folder of Windows, and the server runs on Linux.")
        yield Finding(
            pasted.model.raw, why, say("Write the folder of the model on the host, such as /data/models/NAME.")
        )
        return
    entry = flags.flags().no_model(name)
    if entry is not None:
        yield Finding(pasted.model.raw, entry.text, entry.instead)
        return
    bare = name.rstrip("/").rsplit("/", 1)[-1] if name.startswith("/") else name
    try:
        found = models.find(bare)
    except NotFound as error:
        if _DEEPSEEK.match(name) and not OTHER_MODELS.fullmatch(name):
            yield Finding(pasted.model.raw, error.text, say("Look the name up on ModelScope or Hugging Face."))
        return
    expands = parsers.order(release) >= parsers.order("0.30.0rc1")
    if found.scheme is None and found.model.native == "fp8" and family in ("A2", "A3") and not expands:
        repo = found.model.repo("w8a8") or found.model.repo("w4a8")
        why = say("The original weights of {model} are FP8, and {family} chips have no arithmetic for it.",
                  model=found.model.name, family=family)  # fmt: skip
        instead = say("Use {repo}.", repo=repo) if repo else say("Use its W8A8 or W4A8 weights.")
        yield Finding(pasted.model.raw, why, instead)


def unquantized(settings: Settings, spec: ServeSpec) -> Iterator[Finding]:
    """ModelSlim weights are asked for of a model of the catalog that is not quantized; of a folder nobody can tell."""
    model = settings.pasted.model
    if spec.quantization != "ascend" or model is None or model.text.startswith("/"):
        return
    known_as = of_catalog(settings.pasted)
    if known_as is None or any(one.repo.lower().endswith(model.text.lower()) for one in known_as.quantized):
        return
    repo = known_as.repo("w8a8") or next((one.repo for one in known_as.quantized), None)
    why = say(
        "{model} is not quantized with ModelSlim, and --quantization ascend reads only what is.", model=model.text
    )
    instead = say("Use {repo}, or leave --quantization out.", repo=repo) if repo else say("Leave --quantization out.")
    yield Finding(settings.tokens.get("quantization", "--quantization"), why, instead, spec.quantization)
