"""Installing on hosts with NPUs: the job as it would be queued, starting it on one host or many, and a dry run."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from console.catalog.knowledge import known
from console.errors import Conflict, ConsoleError
from console.hosts import inventory
from console.hosts.installed import options_of
from console.hosts.inventory import Host
from console.jobs import history, stacks
from console.jobs.jobs import enqueue
from console.jobs.stacks import BACKENDS, Wish
from console.plans import ascend_docker, ascend_removal, ascend_venv
from console.plans.check_said import check_said
from console.plans.refusals import Route
from console.plans.step import Step
from console.text import Text, say

SIDE_BY_SIDE = 8
LOOK_S = 120.0
LOOK = "look_at_runtime"
"""The action that ends an installation; its arguments say what was to be installed."""


@dataclass(frozen=True)
class Looked:
    """What the check of one step says now: "satisfied" or "waiting" like a step, "unknown" if it could not be asked."""

    step: Step
    state: str
    words: Text

    @property
    def standing(self) -> Text:
        """The state in words: what would happen to the step."""
        found = {"satisfied": say("already done"), "waiting": say("would run"), "unknown": say("not known")}
        return found[self.state]


def steps(host: Host, wish: Wish) -> list[Step]:
    """The very steps that would run. InvalidInput when nothing fits, or not in the way that is wished."""
    stack = stacks.chosen(host, wish)
    options = options_of(host, wish.source, wish.packages)
    made = ascend_venv.plan if stack.route is Route.VENV else ascend_docker.plan
    kept = {
        "backend": BACKENDS[stack.route],
        "route": str(stack.route),
        "release": stack.release.vllm_ascend,
        "source": str(wish.source),
        "packages": wish.packages,
    }
    title = say("Note what is installed now")
    look = Step("look", title, action=LOOK, arguments=kept, expected_s=5, timeout_s=300)
    return [*made(stacks.target(host), stack, options, known()), look]


def installed_wish(host: Host) -> Wish | None:
    """What the last installation on this host was to bring, whatever became of it; None where there was none."""
    last = history.latest("install", host.id)
    wishes = [] if last is None else _wishes(last)
    return wishes[-1] if wishes else stacks.last_wish(host)


def _wishes(job: history.JobView) -> list[Wish]:
    looks = [one.step for one in job.steps if one.step.action == LOOK]
    return [stacks.wish_of(one.arguments) for one in looks if "route" in one.arguments]


def _earlier_cann(host: Host, present: str) -> list[str]:
    """Versions of CANN that earlier installations were to bring, beside the present one, the latest first.

    An image has its own inside.
    """
    best_last = [one for one in reversed(stacks.resolution(host).stacks) if one.route is Route.VENV]
    versions = {one.release.vllm_ascend: one.variant.cann for one in best_last}
    jobs = [one for one in history.jobs(host_id=host.id) if one.kind == "install"]
    wishes = [wish for job in jobs for wish in _wishes(job) if wish.route is Route.VENV]
    found = [versions.get(one.release, present) for one in wishes]
    return [one for one in dict.fromkeys(found) if one != present]


def removal(host: Host, wish: Wish, *, with_driver: bool = False) -> list[Step]:
    """The steps that take back what was installed for this stack."""
    stack = stacks.chosen(host, wish)
    options = options_of(host, wish.source, wish.packages)
    earlier = _earlier_cann(host, stack.variant.cann)
    listed = ascend_removal.plan(stacks.target(host), stack, options, known(), with_driver=with_driver, earlier=earlier)
    title = say("Note what is installed now")
    return [*listed, Step("look", title, action="look_at_what_is_left", expected_s=5, timeout_s=300)]


def made(host: Host, wish: Wish) -> tuple[str, Text, Sequence[Step]]:
    """Subject, title and steps of the job."""
    stack = stacks.chosen(host, wish)
    title = say(
        "Install vllm-ascend {release} on {host} by {route}",
        release=stack.release.vllm_ascend,
        host=host.title,
        route=str(stack.route),
    )
    return f"host:{host.id}", title, steps(host, wish)


def start(host_id: int, wish: Wish, *, actor: str) -> int:
    """Queue the job; a double click gets the job there is. Conflict when another one works on the host."""
    host = inventory.host(host_id)
    subject, title, listed = made(host, wish)
    return _alone(host, enqueue("install", subject, host_id, title, listed, actor=actor), title, actor)


def _alone(host: Host, number: int, title: Text, actor: str) -> int:
    """The job that was asked for. Conflict when it is somebody else's, or of other purpose: nothing was queued then."""
    job = history.job(number)
    if job.actor == actor and str(job.title) == str(title):
        return number
    raise Conflict(
        say(
            "Job #{job} of {who} works on {host} now: {title}. Nothing was queued; wait for its end or cancel it.",
            job=number,
            who=job.actor,
            host=host.title,
            title=job.title,
        )
    )


def start_removal(host_id: int, wish: Wish, *, actor: str, with_driver: bool = False) -> int:
    """Queue the job that takes back what was installed. Conflict when another one works on the host."""
    host = inventory.host(host_id)
    listed = removal(host, wish, with_driver=with_driver)
    title = removal_title(host, with_driver=with_driver)
    return _alone(host, enqueue("remove", f"host:{host.id}", host_id, title, listed, actor=actor), title, actor)


def removal_title(host: Host, *, with_driver: bool = False) -> Text:
    if with_driver:
        return say("Remove what was installed on {host}, the driver too", host=host.title)
    return say("Remove what was installed on {host}", host=host.title)


def dry_run(host: Host, listed: Sequence[Step]) -> list[Looked]:
    """Run the check of every step and nothing else, so that nothing is changed."""
    runner = inventory.runner(host)

    def one(step: Step) -> Looked:
        if not step.verify:
            return Looked(step, "waiting", say("It is always run."))
        try:
            outcome = runner.run(step.verify, timeout_s=LOOK_S)
        except ConsoleError as error:
            return Looked(step, "unknown", error.text)
        if outcome.code == 0:
            return Looked(step, "satisfied", say("Its check succeeds."))
        said = (outcome.out.strip() or outcome.err.strip()).splitlines()
        return Looked(step, "waiting", check_said(said[-1]) if said else say("It would run."))

    return [one(step) for step in listed]


def dry_runs(plans: Mapping[Host, Sequence[Step]]) -> dict[Host, list[Looked]]:
    """The dry runs of several hosts, side by side."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        return dict(zip(plans, pool.map(lambda host: dry_run(host, plans[host]), plans), strict=True))
