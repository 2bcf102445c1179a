"""What is wrong with a model for the place it shall be served at, though nothing is wrong with the folder by itself.

Chips differ in the formats they compute in, and a container sees only the folders that are mounted into it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from console.catalog.quantizations import NEWEST, scheme
from console.errors import NotFound
from console.serving import ascend
from console.serving.asked import Refusal, ServeSpec
from console.serving.problems import Problem, Trap
from console.serving.rules import quantization_breaches
from console.serving.weights import ModelFolder
from console.text import Text, say


@dataclass(frozen=True)
class Place:
    """Where a model shall be served.

    family    of the chips, as in ascend.yaml; "" for a CPU, or when it is not known
    release   of vllm-ascend; container: whether a container is made for the server
    mounts    folders that the container gets beside the model's own, as host:container[:ro]
    trusting  whether code of the model's own may run
    """

    family: str = ""
    release: str = NEWEST
    container: bool = False
    mounts: tuple[str, ...] = ()
    trusting: bool = False


def place_of(spec: ServeSpec) -> Place:
    """The place that a spec asks for."""
    family = (ascend.family_of(spec.chip) or "") if spec.backend in ascend.BACKENDS else ""
    container = spec.backend == ascend.DOCKER
    return Place(family, spec.release or NEWEST, container, tuple(spec.mounts), spec.trust_remote_code)


def problems_at(model: ModelFolder, place: Place) -> list[Problem]:
    """Those of the folder that matter there, and those that only arise there."""
    own = [one for one in model.problems if not (one.trap == Trap.CUSTOM_CODE and place.trusting)]
    return [*own, *_quantization(model, place), *_links(model, place)]


def refusals(spec: ServeSpec, model: ModelFolder) -> list[Refusal]:
    """Why these weights cannot be started like this; the one place where a launch looks."""
    return [Refusal("model_folder", one.text) for one in problems_at(model, place_of(spec)) if one.is_error]


def _quantization(model: ModelFolder, place: Place) -> Iterator[Problem]:
    if not place.family or model.quantization in (None, "ascend"):
        return
    try:
        one = scheme(str(model.quantization))
    except NotFound:
        return
    is_moe = model.moe_intermediate is not None
    for breach in quantization_breaches(one, place.family, place.release, is_moe=is_moe):
        seen = say("The weights are stored as {name}, says config.json (quantization_config).", name=one.id.upper())
        fix = breach.instead or say("Get another version of this model.")
        yield Problem(Trap.QUANTIZATION, True, seen, breach.reason, fix)


def _links(model: ModelFolder, place: Place) -> Iterator[Problem]:
    outside = {name: target for name, target in model.links.items() if not _mounted(target, place)}
    if not outside:
        return
    name, target = next(iter(outside.items()))
    where = str(PurePosixPath(target).parent)
    seen = say("{count} files are links to files elsewhere: {name} leads to {target}.", count=len(outside), name=name,
               target=target)  # fmt: skip
    yield Problem(Trap.LINKS, place.container, seen, _why_links(place), _fix_links(model.folder, where))


def _why_links(place: Place) -> Text:
    if place.container:
        return say("The container gets the model's folder alone, so these links lead to nothing in it.")
    return say("This is how the cache of a hub is laid out. It works here; in a container the links lead to nothing.")


def _fix_links(folder: str, where: str) -> Text:
    return say(
        "Copy the model with the files themselves ({command}), or mount {where} too, at the same path.",
        command=f"cp -rL '{folder}' /NEW/FOLDER",
        where=where,
    )


def _mounted(target: str, place: Place) -> bool:
    """Whether a mount shows this file at the same path inside."""
    for mount in place.mounts:
        here, _, inside = mount.partition(":")
        inside = inside.partition(":")[0]
        if here.rstrip("/") == inside.rstrip("/") and PurePosixPath(target).is_relative_to(here):
            return True
    return False
