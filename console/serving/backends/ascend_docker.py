"""vLLM with the Ascend plugin in the project's own container image; the host has the driver and Docker.

Devices and folders are those of docs/source/installation.md of vllm-ascend 0.23.0.post1.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from console.catalog import parsers
from console.catalog.knowledge import known
from console.serving import ascend, options
from console.serving.backends import USUAL, Site
from console.serving.command import API_KEY, OFFLINE, Command
from console.serving.spec import Machine, ModelFacts, Refusal, ServeSpec, name_of
from console.text import say

SHARED = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
EXTRA_DEVICES = {"A5": ("/dev/ummu", "/dev/uburma")}
HOST_FILES = (
    "/usr/local/dcmi",
    "/usr/local/bin/npu-smi",
    "/usr/local/Ascend/driver/lib64/",
    "/usr/local/Ascend/driver/version.info",
    "/etc/ascend_install.info",
)
EXTRA_FILES = {"A5": ("/lib/route.conf", "/etc/hccl_rootinfo.json", "/etc/hixlep")}
SHM_GIB = 1
EVERYWHERE = "0.0.0.0"
_IMAGE = re.compile(r"[a-z0-9][\w.:/-]*(@sha256:[0-9a-f]{64})?")
_MOUNT = re.compile(r"/[^:]*:/[^:]*(:(ro|rw))?")


class AscendDocker:
    """The image of a release, started by `docker run` and removed when it ends."""

    name = ascend.DOCKER
    title = say("Ascend NPUs, in a container")
    needs = (
        say("Driver and firmware on the host, and Docker or another engine with its command line."),
        say("The image of the release, pulled or loaded."),
    )

    def runtime_folder(self, work_folder: str, arch: str | None = None) -> str:
        """Everything is in the image; archives of images lie there."""
        return f"{work_folder}/runtimes/images"

    def command(self, spec: ServeSpec, runtime_folder: str, site: Site = USUAL) -> Command:
        """With sudo the key needs a word of its own: sudo hands on no variable that is not named to it."""
        inside = replace(spec, host=spec.host if spec.network == "host" else EVERYWHERE)
        keeps = (f"--preserve-env={API_KEY}",) if site.root and spec.api_key else ()
        outside = (*site.root, *keeps, *docker_run(spec))
        image = (image_of(spec), *ascend.wrapped())
        argv = (*outside, *image, "vllm", "serve", *options.words(inside), *ascend.quiet(spec))
        begins = (len(outside), len(outside) + 1, len(outside) + len(image))
        return Command(argv, {}, (API_KEY,) if spec.api_key else (), begins)

    def refusals(self, spec: ServeSpec, model: ModelFacts, machine: Machine) -> list[Refusal]:
        return [*ascend.refusals(spec), *_refuse_container(spec)]


def container_name(spec: ServeSpec) -> str:
    """What `docker ps` calls it: a port of a host belongs to one server."""
    return f"pilot-{name_of(spec.served_name)[:60]}-{spec.port}"


def image_of(spec: ServeSpec) -> str:
    """The image that was chosen, else that of the release for the family of the chip, made of Ubuntu."""
    if spec.image:
        return spec.image
    family = ascend.family_of(spec.chip) or ""
    offered = next((one for one in known().releases if one.vllm_ascend == spec.release), None)
    tag = offered.image.tag(spec.release, family, "ubuntu") if offered else None
    address = known().places["image"].address or "{tag}"
    return address.format(tag=tag or f"v{spec.release}")


def devices(spec: ServeSpec) -> tuple[str, ...]:
    """Device files the container gets: the NPUs, and what all of them need."""
    extra = EXTRA_DEVICES.get(ascend.family_of(spec.chip) or "", ())
    return (*(f"/dev/davinci{one}" for one in spec.device_ids), *SHARED, *extra)


def volumes(spec: ServeSpec) -> tuple[str, ...]:
    """Folders the container gets, as host:container[:ro]: files of the driver, the model, and what was added."""
    files = (*HOST_FILES, *EXTRA_FILES.get(ascend.family_of(spec.chip) or "", ()))
    return (*(f"{one}:{one}" for one in files), f"{spec.model_folder}:{spec.model_folder}:ro", *spec.mounts)


def published(spec: ServeSpec) -> str:
    """What `--publish` takes: the address of the host, its port, and the same port inside."""
    host = f"[{spec.host}]" if ":" in spec.host else "127.0.0.1" if spec.host == "localhost" else spec.host
    return f"{host}:{spec.port}:{spec.port}"


def docker_run(spec: ServeSpec) -> tuple[str, ...]:
    """Everything before the image."""
    words = ["docker", "run", "--rm", "--name", container_name(spec)]
    words += ["--shm-size", f"{SHM_GIB if spec.shm_gib is None else spec.shm_gib}g"]
    words += ["--network", "host"] if spec.network == "host" else ["--publish", published(spec)]
    if ascend.family_of(spec.chip) == "A5":
        words += ["--pid", "host"]  # without it the plugin cannot bind CPU cores there
    for device in devices(spec):
        words += ["--device", device]
    for volume in volumes(spec):
        words += ["--volume", volume]
    for name, value in sorted({**spec.extra_env, **OFFLINE}.items()):
        words += ["--env", f"{name}={value}"]
    if spec.api_key:
        words += ["--env", API_KEY]  # without a value Docker takes it from its own environment
    return tuple(words)


def _refuse_container(spec: ServeSpec) -> Iterator[Refusal]:
    if not spec.device_ids:
        why = say("A container sees only the NPUs that are named to it, and none is.")
        yield Refusal("device_ids", why, say("Choose the cards."))
    elif ascend.family_of(spec.chip) == "A3" and any(one ^ 1 not in spec.device_ids for one in spec.device_ids):
        why = say("A card of the A3 family is two NPUs, and a container needs both.")
        yield Refusal("device_ids", why, say("Choose them in pairs, such as 0 and 1."))
    if spec.image and not _IMAGE.fullmatch(spec.image):
        yield Refusal("image", say("'{image}' is not the name of an image.", image=spec.image))
    for mount in spec.mounts:
        if not _MOUNT.fullmatch(mount):
            why = say("'{mount}' does not name a folder of the host and one of the container.", mount=mount)
            yield Refusal("mounts", why, say("Write it as /on/the/host:/in/the/container, with :ro to protect it."))
    if ":" in spec.model_folder:
        yield Refusal(
            "model_folder", say("Docker takes a colon in a path for the end of it."), say("Rename the folder.")
        )
    if spec.shm_gib is not None and spec.shm_gib < 1:
        yield Refusal("shm_gib", say("The processes talk to each other through shared memory."), say("Use 1 or more."))
    if spec.network not in ("", "host"):
        yield Refusal(
            "network",
            say("'{network}' is not a network we know.", network=spec.network),
            say("Use host, or leave it empty."),
        )
    if spec.release in parsers.releases() and not spec.image:
        offered = next((one for one in known().releases if one.vllm_ascend == spec.release), None)
        family = ascend.family_of(spec.chip)
        if offered is not None and family is not None and family not in offered.image.suffix:
            why = say("There is no image of vllm-ascend {release} for chips of the {family} family.",
                      release=spec.release, family=family)  # fmt: skip
            yield Refusal("image", why, say("Choose another release, or the route without a container."))


BACKEND = AscendDocker()
