"""How a host with NPUs gets vLLM in the project's own container image; the host keeps only driver and engine."""

from collections.abc import Iterator

from console.catalog.knowledge import Knowledge
from console.plans.ascend import (
    LOCK_WAIT_S,
    Case,
    Options,
    changes_driver,
    driver_steps,
    file_of,
    packages_step,
    system_step,
)
from console.plans.resolve import Stack
from console.plans.step import Step
from console.plans.target import Target
from console.serving.backends.ascend_docker import EXTRA_DEVICES, EXTRA_FILES, HOST_FILES, SHARED, SHM_GIB
from console.text import say


def plan(target: Target, stack: Stack, options: Options, known: Knowledge) -> list[Step]:
    """From the host as it is to a container that sees every NPU."""
    case = Case(target, stack, options, known)
    files = [one for one in (file_of(stack, "driver"), file_of(stack, "firmware")) if one]
    tools = [system_step(case, driver=True, plugin=False)] if changes_driver(stack) else []
    looked_at = [packages_step(case, files, image=stack.image or "")] if files else []
    return [*looked_at, *tools, *driver_steps(case), *_container(case)]


def _container(case: Case) -> Iterator[Step]:
    image = case.stack.image or ""
    here = {
        "image": image,
        "tag": image.rpartition(":")[2],
        "devices": " ".join((*SHARED, *EXTRA_DEVICES.get(case.family, ()))),
        "mounts": " ".join((*HOST_FILES, *EXTRA_FILES.get(case.family, ()))),
        "shm": str(SHM_GIB),
        "tool": case.tool,
        "lock_wait": str(LOCK_WAIT_S),
    }
    yield case.step("engine", say("See that a container engine runs"), 60, 3600, values=here)
    title = say("Load the image {image}", image=image)
    yield case.step(
        "image", title, 900, 4 * 3600, rollback=say("Remove it with: docker rmi {image}", image=image), values=here
    )
    yield case.step("devices", say("See that the files a container needs of the host are there"), 1, 60, values=here)
    title = say("Prove the container: it sees the NPUs and has its shared memory")
    yield case.step("level-container", title, 30, 600, values=here)
