"""Understands what people paste: a command, a `docker run` line or a Python program becomes settings and findings.

Nothing is lost: every word of the text is in the settings, in a finding, or listed as ignored with the reason.
"""

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from console.catalog import parsers
from console.catalog.flags import told
from console.serving import ascend, explain_yaml, known
from console.serving.asked import AUTO, Refusal, ServeSpec
from console.serving.backends.ascend_docker import image_of
from console.serving.conflicts import conflicts
from console.serving.explain_around import around
from console.serving.explain_local import local_fields, without_quiet
from console.serving.explain_model import model_findings, of_catalog, unquantized
from console.serving.explain_options import Options
from console.serving.explain_parts import Finding, Ignored, Pasted, Settings
from console.serving.explain_python import looks_like, python
from console.serving.explain_shell import shell
from console.serving.options import FIELDS
from console.serving.rules import chip_breaches
from console.serving.spec import name_of
from console.text import say

DEFAULT_PORT = 8000
MOST_CHARACTERS = 50_000
"""More than any command has; a log or a book that is pasted by mistake does not stop the page."""
_TAG = re.compile(r"</?(?:pre|code|p|br|span|div|b|i|li|ul|ol|strong|em|td|tr)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BLANK = re.compile(
    "(?:vllm|--)[^\n]*[\u00a0\u2000-\u200a\u202f\u3000]|[\u00a0\u2000-\u200a\u202f\u3000][^\n]*(?:vllm|--)"
)
_ENTITY = re.compile(r"&(?:quot|apos|#39|#x27|lt|gt|amp|nbsp);")
_IMAGE = re.compile(r"(?:^|/)vllm-ascend:v?(\d+(?:\.\d+)*(?:rc\d+|\.post\d+)?)(?:-(a3|310p|a5))?(?:-openeuler)?$")
_GPU_IMAGE = re.compile(r"(?:^|/)(vllm/vllm-openai|vllm-openai)(?::|$)")


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
    fields: dict[str, Any] = {"backend": backend, **without_quiet(settings.fields)}
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
    """YAML, then Python where the text makes an engine, else shell; what looks like a comment or lacks its command."""
    pasted = Pasted()
    text = _plain(text, pasted)
    described = explain_yaml.command_of(text, pasted) if explain_yaml.looks_like(text) else None
    rest = described or (python(text, pasted) if looks_like(text) else text)
    if rest.strip():
        shell(rest, pasted)
    if pasted.command and pasted.kind != "python" and any(_BLANK.search(line) for line in text.split("\n")):
        why = say("Blanks in it are not those of a keyboard, and a shell takes them for letters.")
        pasted.find(pasted.command, why, say("Write plain blanks."))
    if pasted.command or (pasted.findings and not pasted.cut):
        return pasted
    for changed, tell in _again(text):
        again = Pasted()
        tell(again)
        shell(changed, again)
        if again.command and (again.model is not None or len(again.words) > 1):
            again.findings += pasted.findings
            return again
    return pasted


def _plain(text: str, pasted: Pasted) -> str:
    """As much of the text as is read, without the marks of a web page."""
    if len(text) > MOST_CHARACTERS:
        why = say("The text has {count} characters, and only the first {most} are read.",
                  count=f"{len(text):,}", most=f"{MOST_CHARACTERS:,}")  # fmt: skip
        pasted.find("…", why, say("Paste the command alone."))
        pasted.cut, text = True, text[:MOST_CHARACTERS]
    if "</" in text:
        pasted.ignore(say("It frames the text."), _TAG.findall(text))
        text = _TAG.sub(lambda tag: "\n" if tag[0].startswith("<br") else " ", text)
    return html.unescape(text) if _ENTITY.search(text) else text


def _again(text: str) -> Iterator[tuple[str, Callable[[Pasted], None]]]:
    """Other ways to read a text in which no command was found, each with what is to be told of it."""
    if re.search(r"^\s*#\s*\S", text, re.MULTILINE):
        uncommented = re.sub(r"^(\s*)#\s", r"\1", text, flags=re.MULTILINE)
        yield uncommented, lambda again: again.ignore(say("It frames the text."), ["#"])
    if text.lstrip().startswith("--"):
        why, instead = say("The command itself is missing."), say("Write {instead}.", instead="vllm serve")
        yield f"vllm serve {text.lstrip()}", lambda again: again.find(text.split()[0], why, instead)


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
    pasted.findings += model_findings(pasted, settings.family, settings.release)
    pasted.findings += unquantized(settings, spec)
    pasted.findings += around(settings, spec, of_catalog(pasted))
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
