"""Understands what people paste: a command, a `docker run` line or a Python program becomes settings and findings.

Nothing is lost: every word of the text is in the settings, in a finding, or listed as ignored with the reason.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from console.catalog import flags, models, parsers
from console.catalog.flags import told
from console.errors import NotFound
from console.serving import ascend, known
from console.serving.asked import AUTO, Refusal, ServeSpec
from console.serving.backends.ascend_docker import image_of
from console.serving.conflicts import conflicts
from console.serving.explain_around import around
from console.serving.explain_local import local_fields
from console.serving.explain_options import Options
from console.serving.explain_parts import Finding, Ignored, Pasted, Settings
from console.serving.explain_python import looks_like, python
from console.serving.explain_shell import shell
from console.serving.options import FIELDS
from console.serving.rules import chip_breaches
from console.serving.spec import name_of
from console.text import say

DEFAULT_PORT = 8000
_IMAGE = re.compile(r"(?:^|/)vllm-ascend:v?(\d+(?:\.\d+)*(?:rc\d+|\.post\d+)?)(?:-(a3|310p|a5))?(?:-openeuler)?$")
_GPU_IMAGE = re.compile(r"(?:^|/)(vllm/vllm-openai|vllm-openai)(?::|$)")
_DEEPSEEK = re.compile(r"(?:deepseek-ai/)?deepseek[-_:]", re.IGNORECASE)
OTHER_MODELS = re.compile(
    r"(?:deepseek-ai/)?deepseek-(?:llm-(?:7b|67b)-(?:base|chat)|coder-[\d.]+b(?:mqa)?-(?:base|instruct)(?:-v1\.5)?"
    r"|math-7b-(?:base|instruct|rl)|vl-[\d.]+b-(?:base|chat)|vl2(?:-tiny|-small)?|prover-v[\d.]+.*|ocr(?:-2)?"
    r"|moe-16b-base|v2(?:-lite|-chat|-chat-0628)?|v2\.5-1210|coder-v2-.*|math-v2|v3-base|v3\.1-base|v3\.2-.*|r1-zero)",
    re.IGNORECASE,
)
"""DeepSeek's own models that exist although the catalog has no figures of them."""


@dataclass(frozen=True)
class Understood:
    """What a text comes to.

    kind     serve | docker | python, "" if nothing in it starts a server
    fields   of ServeSpec, only those that the text states; spec: with defaults for the others
    carried  options without a field of their own, as they go on into the command
    taken    words that became part of the settings
    read_as  the release whose options were read, where the one asked for is not known
    """

    kind: str
    spec: ServeSpec
    fields: Mapping[str, Any]
    findings: tuple[Finding, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    carried: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    read_as: str = ""

    @property
    def spec_fields(self) -> Mapping[str, Any]:
        """For a form: what the text states."""
        return self.fields


def understand(text: str, release: str = "", chip: str = "") -> Understood:
    """Read a text for a release of vllm-ascend and a chip; never raises, whatever the text is.

    Without a release it is that of the image, else the newest stable one; without a chip nothing is judged by it.
    """
    pasted = _read(text)
    of_image = _IMAGE.search(pasted.image)
    wanted = of_image[1] if of_image else release or parsers.newest_stable()
    read_as = parsers.nearest(parsers.releases()[0] if pasted.is_local else wanted)
    settings = Settings(pasted, read_as, ascend.family_of(chip))
    Options(settings).all()
    backend = "local_cpu" if pasted.is_local else ascend.DOCKER if pasted.kind == "docker" else ascend.VENV
    fields: dict[str, Any] = {"backend": backend, **settings.fields}
    if pasted.is_local:
        fields = local_fields(fields, pasted)
    else:
        fields["release"] = wanted
        fields |= {"chip": chip} if chip else {}
    if pasted.kind == "docker":
        _container(settings, fields, wanted)
    fields |= _model(pasted, fields)
    spec = ServeSpec(**{**_defaults(fields, pasted), **fields})
    if pasted.command and not pasted.is_local:
        _judge(settings, spec)
        fields, spec = _without_unread(fields, spec, settings.release)
    unique = {(one.token, one.value, told(one.problem, "en")): one for one in pasted.findings}
    return Understood(
        pasted.kind if pasted.command or pasted.findings else "",
        spec,
        fields,
        tuple(unique.values()),
        tuple(pasted.ignored),
        tuple(settings.extra),
        tuple(pasted.taken),
        read_as,
    )


def _read(text: str) -> Pasted:
    """Python where the text makes an engine, shell otherwise; a prompt that looks like a comment is tried last."""
    pasted = Pasted()
    rest = python(text, pasted) if looks_like(text) else text
    if rest.strip():
        shell(rest, pasted)
    if not pasted.command and not pasted.findings and re.search(r"^\s*#\s*\S", text, re.MULTILINE):
        again = Pasted()
        shell(re.sub(r"^(\s*)#\s", r"\1", text, flags=re.MULTILINE), again)
        if again.command:
            again.ignore(say("It frames the text."), ["#"])
            return again
    return pasted


def _defaults(fields: Mapping[str, Any], pasted: Pasted) -> dict[str, Any]:
    """A server's name is its model's; the port is vLLM's own; the number format is what the model says."""
    folder = str(fields.get("model_folder", ""))
    name = name_of(folder) if folder.startswith("/") or not folder else folder
    return {
        "model_folder": "",
        "served_name": name,
        "port": pasted.port or DEFAULT_PORT,
        "dtype": AUTO,
        "device_ids": pasted.device_ids,
    }


def _container(settings: Settings, fields: dict[str, Any], release: str) -> None:
    """What the container was given: image, network, volumes."""
    pasted = settings.pasted
    if pasted.network == "host":
        fields.setdefault("host", "0.0.0.0")
    elif pasted.port is not None:
        fields["port"] = pasted.port
        fields["host"] = pasted.host
    else:
        fields.pop("host", None)
    if pasted.network:
        fields["network"] = pasted.network
    if pasted.shm_gib not in (None, 1):
        fields["shm_gib"] = pasted.shm_gib
    if pasted.device_ids and "device_ids" not in fields:
        fields["device_ids"] = pasted.device_ids
    _image(settings, fields, release)
    model = pasted.model.text if pasted.model else ""
    for mount in pasted.mounts:
        host, inside = mount.split(":")[:2]
        if model == inside or (inside != "/" and model.startswith(inside.rstrip("/") + "/")):
            fields["model_folder"] = host.rstrip("/") + model[len(inside.rstrip("/")) :]
        else:
            fields["mounts"] = (*fields.get("mounts", ()), mount)


def _image(settings: Settings, fields: dict[str, Any], release: str) -> None:
    pasted = settings.pasted
    if not pasted.image:
        return
    plain = ServeSpec(backend="", model_folder="", served_name="", port=0, release=release, chip=fields.get("chip", ""))
    found = _IMAGE.search(pasted.image)
    if _GPU_IMAGE.search(pasted.image):
        pasted.find(pasted.image, say("This image is for NVIDIA cards."), say("Use {image}.", image=image_of(plain)))
        return
    pasted.take(pasted.image)
    if found is None or image_of(plain) != pasted.image:
        fields["image"] = pasted.image
    wanted = {"A2": None, "A3": "a3", "310P": "310p", "A5": "a5"}
    if found and settings.family in wanted and found[2] != wanted[settings.family]:
        why = say("This image is not for chips of the {family} family: it stops with an assertion on the device type.",
                  family=settings.family)  # fmt: skip
        pasted.find(pasted.image, why, say("Use {image}.", image=image_of(plain)))


def _model(pasted: Pasted, fields: Mapping[str, Any]) -> dict[str, Any]:
    if pasted.model is None:
        return {}
    pasted.take(pasted.model.raw)
    return {} if "model_folder" in fields else {"model_folder": pasted.model.text}


def _judge(settings: Settings, spec: ServeSpec) -> None:
    """What is wrong with the whole: the model, keys of the plugin, and what does not go together."""
    pasted = settings.pasted
    pasted.findings += _model_findings(pasted, settings.family, settings.release)
    pasted.findings += _unquantized(settings, spec)
    pasted.findings += around(settings, spec, _of_catalog(pasted))
    token = settings.tokens.get("additional_config", "--additional-config")
    for key, trouble in known.config_troubles(spec.additional_config, settings.release):
        pasted.find(key, trouble.problem, trouble.instead, token)
    chip = ascend.chip_called(spec.chip)
    for breach in chip_breaches(chip, spec.chip) if chip is not None else ():
        pasted.find(spec.chip, breach.reason, breach.instead)
    sizes = {"tensor_parallel", "pipeline_parallel", "data_parallel", "--data-parallel-size-local", "--nnodes"}
    for refusal in conflicts(spec, settings.family):
        if settings.open & sizes and refusal.field in ("additional_config", "device_ids", "extra_args"):
            continue  # it would be about sizes that nobody has filled in yet
        pasted.find(_token(settings, refusal), refusal.reason, refusal.instead)
    if spec.release not in parsers.releases():
        why = say("The options of vllm-ascend {release} are not known here; they are read as those of {other}.",
                  release=spec.release, other=settings.release)  # fmt: skip
        pasted.find(spec.release, why, say("Use one of: {names}.", names=", ".join(parsers.releases())))


def _without_unread(fields: dict[str, Any], spec: ServeSpec, release: str) -> tuple[dict[str, Any], ServeSpec]:
    """Settings without the keys of the plugin that nothing reads: each of them is a finding already."""
    unread = {key for key, _ in known.config_troubles(spec.additional_config, release)}
    if not unread:
        return fields, spec
    kept = {key: value for key, value in spec.additional_config.items() if key not in unread}
    for key, value in kept.items():
        if isinstance(value, Mapping):
            kept[key] = {inner: one for inner, one in value.items() if f"{key}.{inner}" not in unread}
    return {**fields, "additional_config": kept}, replace(spec, additional_config=kept)


def _token(settings: Settings, refusal: Refusal) -> str:
    """The word of the paste that a conflict is about."""
    reason = str(refusal.reason)
    if refusal.field in ("extra_args", "extra_env"):
        return next((token for name, token in settings.carried.items() if name in reason), refusal.field)
    return settings.tokens.get(refusal.field) or FIELDS.get(refusal.field, refusal.field)


def _of_catalog(pasted: Pasted) -> models.Model | None:
    name = pasted.model.text.rstrip("/") if pasted.model else ""
    try:
        return models.find(name.rsplit("/", 1)[-1] if name.startswith("/") else name).model
    except NotFound:
        return None


def _model_findings(pasted: Pasted, family: str | None, release: str) -> Iterator[Finding]:
    """A model that is not there, or whose original weights the chip cannot compute with."""
    if pasted.model is None and any(word.text.startswith("--config") for word in pasted.words):
        return
    if pasted.model is None:
        yield Finding(pasted.command, say("No model is named."), say("Write the folder of a model behind vllm serve."))
        return
    name = pasted.model.text
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


def _unquantized(settings: Settings, spec: ServeSpec) -> Iterator[Finding]:
    """ModelSlim weights are asked for of a model of the catalog that is not quantized; of a folder nobody can tell."""
    model = settings.pasted.model
    if spec.quantization != "ascend" or model is None or model.text.startswith("/"):
        return
    known_as = _of_catalog(settings.pasted)
    if known_as is None or any(one.repo.lower().endswith(model.text.lower()) for one in known_as.quantized):
        return
    repo = known_as.repo("w8a8") or next((one.repo for one in known_as.quantized), None)
    why = say(
        "{model} is not quantized with ModelSlim, and --quantization ascend reads only what is.", model=model.text
    )
    instead = say("Use {repo}, or leave --quantization out.", repo=repo) if repo else say("Leave --quantization out.")
    yield Finding(settings.tokens.get("quantization", "--quantization"), why, instead, spec.quantization)


def report(found: Understood, language: str) -> dict[str, object]:
    """As `pilot explain --json` prints it."""
    findings = [
        {
            "token": one.token,
            "problem": told(one.problem, language),
            "instead": told(one.instead, language),
            "value": one.value,
        }
        for one in found.findings
    ]
    return {
        "spec": found.spec.to_json(),
        "findings": findings,
        "kind": found.kind,
        "release": found.spec.release,
        "stated": sorted(found.fields),
        "carried": list(found.carried),
        "ignored": [{"token": one.token, "why": told(one.why, language)} for one in found.ignored],
    }
