"""Getting a model from a hub onto a host as a job: the host asks the hub, the console reads what the hub offers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.errors import HostError, InvalidInput, NotFound
from console.hosts import inventory
from console.hosts.inventory import Host
from console.jobs.jobs import enqueue
from console.jobs.logs import Log
from console.jobs.ride import ride
from console.plans import weights
from console.plans.step import Step
from console.plans.weights_hub import Hub, HubFile, Remote, file_address, list_address, next_page, read_list, wanted
from console.plans.weights_hub import listed as written
from console.plans.weights_hub import remote as remote_of
from console.serving import launch, shelf
from console.text import Text, say, verbatim

if TYPE_CHECKING:
    from console.jobs.carry import Carry

KIND = "fetch-model"
MARGIN = 64 * 1_048_576
"""Room that must be left on the disk afterwards."""
MOST_PAGES = 50


@dataclass(frozen=True)
class Page:
    """One answer: exit code of the client (22 refused), HTTP status (0: none), header Link, body."""

    code: int
    status: int
    link: str
    body: str
    said: str


def start(host: Host, one: Remote, *, into: str = "", actor: str) -> int:
    """Queue the job, or find the one that works on this folder. `into`: where models lie, instead of the work folder.

    InvalidInput when the model cannot go there.
    """
    folder = target(host, one, into)
    steps = weights.plan(one, folder)
    title = say("Get {model} onto {host}", model=one.model, host=host.title)
    return enqueue(KIND, f"weights:{host.id}:{folder}", host.id, title, steps, actor=actor)


def target(host: Host, one: Remote, into: str = "") -> str:
    """The folder of the model on the host."""
    return f"{into.strip().rstrip('/') or f'{host.work_folder}/models'}/{one.name}"


def list_weights(carry: "Carry", step: Step, log: Log) -> None:
    """The action of the first step: what the hub offers, and whether the disk has room for what is missing."""
    asked = {name: str(step.arguments[name]) for name in ("hub", "model", "revision", "endpoint")}
    one, folder = remote_of(**asked), str(step.arguments["folder"])
    files = wanted(one, _files(carry, step, one))
    _ask(carry, step, one, file_address(one, "config.json"))  # the list of a gated model is open to all, its files not
    size = sum(file.size for file in files)
    log.line(f"{len(files)} files, {size / 1e9:.2f} GB, {sum(bool(file.digest) for file in files)} with a checksum")
    script, stdin = weights.room_script(one, folder), written(one, files).encode()
    outcome = ride(carry, lambda: carry.runner.run(script, stdin=stdin, timeout_s=120), step.timeout_s)
    lines = outcome.out.split()
    if outcome.code != 0 or len(lines) != 2:
        raise HostError(
            say(
                "{folder} could not be looked into: {error}. May the user write there?",
                folder=folder,
                error=outcome.err.strip() or f"exit code {outcome.code}",
            )
        )
    _require_room(folder, size, int(lines[0]), int(lines[1]))


def look_at_weights(carry: "Carry", step: Step, log: Log) -> None:
    """The action of the last step: fails with the first reason why the model cannot be served."""
    host, folder = inventory.host(carry.host_id), str(step.arguments["folder"])
    found = ride(carry, lambda: shelf.model_on(host, folder), step.timeout_s)
    for problem in found.problems:
        log.line(f"{'error' if problem.is_error else 'warning'}: {problem.text}")
    log.line(f"{found.parameters / 1e9:.2f} B parameters, {found.weight_bytes / 1e9:.2f} GB of weights")
    errors = [problem for problem in found.problems if problem.is_error]
    if errors:
        raise InvalidInput(errors[0].text)
    if not folder.startswith(f"{host.work_folder}/models/"):
        launch.add_model(host, folder, actor="console")


def _files(carry: "Carry", step: Step, one: Remote) -> Iterator[HubFile]:
    address = list_address(one)
    for _ in range(MOST_PAGES):
        page = _ask(carry, step, one, address)
        yield from read_list(one, page.body)
        address = next_page(address, page.link)
        if not address:
            return
    raise HostError(say("The list of files at {address} does not end.", address=one.endpoint))


def _ask(carry: "Carry", step: Step, one: Remote, address: str) -> Page:
    """One answer of the hub, as the host gets it. The error says why there is none."""
    script = weights.page_script(one, address)
    outcome = ride(carry, lambda: carry.runner.run(script, timeout_s=180), step.timeout_s)
    head, _, body = outcome.out.partition("\n\n")
    first, _, link = head.partition("\n")
    words = first.split()
    if outcome.code != 0 or len(words) != 2:
        raise HostError(say("The host could not ask {address}: {error}", address=address, error=outcome.err.strip()))
    page = Page(int(words[0]), int(words[1]), link, body, outcome.err.strip())
    if page.code != 0:
        raise _refused(one, page)
    return page


def _refused(one: Remote, page: Page) -> HostError | NotFound | InvalidInput:
    if page.status in (401, 403):
        return InvalidInput(_gated(one, page.status))
    if page.status == 404:
        return NotFound(
            say(
                "{endpoint} has no model {model} with revision {revision}, or no such file of it (HTTP 404). Look for "
                "the exact name on the page of the hub; capital letters count.",
                endpoint=one.endpoint,
                model=one.model,
                revision=one.revision,
            )
        )
    if page.code == 127:
        return InvalidInput(
            say("Neither curl nor python3 is on this host. Install one of them, or push the model from the console.")
        )
    return HostError(
        say(
            "The host gets no answer from {endpoint}: {error}. Has it internet, does it need a proxy, or another "
            "address of the hub? Without internet, push the model from the console.",
            endpoint=one.endpoint,
            error=verbatim(page.said or f"HTTP {page.status}"),
        )
    )


def _gated(one: Remote, status: int) -> Text:
    way = (
        say("`hf auth login`, or the variable HF_TOKEN in the login of the user")
        if one.hub == Hub.HUGGINGFACE
        else say("the variable MODELSCOPE_API_TOKEN in the login of the user")
    )
    return say(
        "{endpoint} does not give {model} to everybody (HTTP {status}): it is gated or private, or there is no such "
        "model. Accept its terms on its page there, leave a token on this host ({way}), then resume.",
        endpoint=one.endpoint,
        model=one.model,
        status=status,
        way=way,
    )


def _require_room(folder: str, size: int, free: int, there: int) -> None:
    left = max(0, size - there)
    if left and left + MARGIN > free:
        raise HostError(
            say(
                "The disk of {folder} has no room: {needed} MiB are needed, {room} MiB are free. Free some, or choose "
                "another folder for the models.",
                folder=folder,
                needed=-(-(left + MARGIN) // 1_048_576),
                room=free // 1_048_576,
            )
        )
