"""What is wrong around the options of a paste: its signs, its container, and sizes that are not the model's."""

import shlex
from collections.abc import Iterator

from console.catalog.models import Model
from console.serving.asked import ServeSpec
from console.serving.explain_parts import Finding, Settings, Word
from console.serving.layout import Layout
from console.serving.rules import context_breaches, layout_breaches
from console.serving.shape import shape_of
from console.text import say, verbatim

NEEDED_DEVICES = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
DRIVER_FOLDER = "/usr/local/Ascend/driver/lib64"
DRIVER_PLACES = (
    "/usr/local/dcmi", "/usr/local/bin/npu-smi", f"{DRIVER_FOLDER}/", "/usr/local/Ascend/driver/version.info",
    "/etc/ascend_install.info",
)  # fmt: skip
"""What installation.md of vllm-ascend mounts from the host."""
LONGER = ("--hf-overrides", "--rope-scaling")
TYPED = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500\uff0d\ufe58\ufe63\u2018\u2019\u201c\u201d\u201e\uff02\uff07"
"""Dashes and quotes of text programs and of Chinese keyboards."""


def around(settings: Settings, spec: ServeSpec, model: Model | None) -> Iterator[Finding]:
    """Findings in the order of the text: how it is written, the container, the model's own sizes."""
    yield from _signs(settings.pasted.words)
    if settings.pasted.kind == "docker" and settings.pasted.is_npu_container:
        yield from _container(settings, spec)
    if model is not None:
        yield from _sizes(settings, spec, model)


def _signs(words: list[Word]) -> Iterator[Finding]:
    """Words that are understood here, and that a shell would hand on as they are."""
    before = ""
    for word in words:
        is_secret = "--api-key" in (before, word.text.partition("=")[0])
        before = word.text
        if is_secret:
            continue
        if any(sign in TYPED for sign in word.raw):
            why = say("It is written with dashes or quotes of a text program, which a shell takes for letters.")
            yield Finding(word.raw, why, verbatim(shlex.quote(word.text)))
        elif word.raw[:1] in ("'", '"') and word.text[:1] == word.raw[:1]:
            why = say("The quote is never closed, so a shell waits for the rest of it.")
            yield Finding(word.raw, why, say("Close it, or leave it out."))


def _container(settings: Settings, spec: ServeSpec) -> Iterator[Finding]:
    pasted = settings.pasted
    if not pasted.is_privileged and not pasted.device_ids:
        why = say("No card is given to the container, so the engine finds no NPU.")
        yield Finding("docker run", why, verbatim("--device /dev/davinci0"))
    missing = [one for one in NEEDED_DEVICES if one not in pasted.shared_devices]
    if not pasted.is_privileged and missing:
        why = say("Without {devices} no program in the container reaches a card.", devices=", ".join(missing))
        yield Finding("docker run", why, verbatim(" ".join(f"--device {one}" for one in missing)))
    if not _is_mounted(DRIVER_FOLDER, pasted.targets):
        absent = [one for one in DRIVER_PLACES if not _is_mounted(one, pasted.targets)]
        why = say("The driver of the host is not mounted, and no image has it: {places}.", places=", ".join(absent))
        yield Finding("docker run", why, verbatim(" ".join(f"-v {one}:{one}" for one in absent)))
    ranks = spec.tensor_parallel * spec.pipeline_parallel * spec.data_parallel
    if pasted.shm_gib is None and not pasted.is_host_memory and ranks > 1:
        why = say(
            "Docker gives 64 MB of shared memory, too little for {ranks} ranks that talk through it.", ranks=ranks
        )
        yield Finding("docker run", why, verbatim("--shm-size=1g"))
    model = pasted.model
    if model is not None and model.text.startswith("/") and not _is_mounted(model.text, pasted.targets):
        why = say("The container does not see this folder: no volume brings it in.")
        folder = model.text.rstrip("/")
        yield Finding(model.raw, why, verbatim(f"-v {shlex.quote(f'{folder}:{folder}:ro')}"))


def _is_mounted(place: str, targets: list[str]) -> bool:
    wanted = place.rstrip("/")
    return any(wanted == one or wanted.startswith(f"{one}/") for one in (target.rstrip("/") for target in targets))


def _sizes(settings: Settings, spec: ServeSpec, model: Model) -> Iterator[Finding]:
    shape = shape_of(model)
    if not shape.computable:
        return
    layout = Layout(spec.tensor_parallel, spec.pipeline_parallel, spec.data_parallel, spec.expert_parallel)
    breaches = list(layout_breaches(shape, layout, layout.devices))
    if spec.context and not any(name in spec.extra_args for name in LONGER):
        breaches += context_breaches(shape, spec.context)
    for breach in breaches:
        token = settings.tokens.get(breach.field)
        if token is not None and breach.field not in settings.open:
            yield Finding(token, breach.reason, breach.instead)
