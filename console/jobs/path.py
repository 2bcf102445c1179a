"""The pilot path: which kinds of job follow each other, and how each is made when its turn comes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from console.checks import CHECKS
from console.hosts import inventory
from console.jobs import history, installing, stacks
from console.jobs.jobs import enqueue, go_on_with
from console.jobs.ways import way_of
from console.plans import local_cpu
from console.plans.step import Step
from console.records import reading
from console.serving import instances, launch
from console.serving.place import arch
from console.text import Text, say
from db import models

PILOT = ("check", "install", "start", "try", "measure")
"""From a bare host to a measured answer, as kinds of job."""
RECHECK = "recheck"
"""The kind of job that asks again what a single check needs."""


@dataclass(frozen=True)
class Planned:
    """A job as it would be queued now: what it works on and the very steps that will run."""

    kind: str
    subject: str
    title: Text
    steps: Sequence[Step]
    then: Sequence[str] = ()


def start_pilot(host_id: int, *, actor: str) -> int:
    """Queue the whole path on a host; the id of its first job, or of the job the host is busy with."""
    for job in history.jobs(20, host_id=host_id, active_only=True):
        if history.job(job.journey).then:
            return job.id  # it is under way, at whichever of its jobs
    first = planned(PILOT[0], inventory.host(host_id), PILOT[1:])
    job_id = enqueue(first.kind, first.subject, host_id, first.title, first.steps, actor=actor, then=first.then)
    kind = history.job(job_id).kind
    if kind in PILOT:
        go_on_with(job_id, PILOT[PILOT.index(kind) + 1 :])
    return job_id


def start(kind: str, host_id: int, *, actor: str) -> int:
    """Queue one kind of job alone."""
    one = planned(kind, inventory.host(host_id))
    return enqueue(one.kind, one.subject, host_id, one.title, one.steps, actor=actor)


def queue(made: "Made", kind: str, host_id: int, *, actor: str) -> int:
    """Queue one job that was made already; the id of the active job its subject has, if it has one."""
    subject, title, steps = made
    return enqueue(kind, subject, host_id, title, steps, actor=actor)


def following(job_id: int) -> Planned | None:
    """What comes after this job on its path, planned from how things are now."""
    with reading() as session:
        job = session.get_one(models.Job, job_id)
        rest = json.loads(job.then)
    return planned(rest[0], inventory.host(job.host_id), rest[1:]) if rest else None


def planned(kind: str, host: inventory.Host, then: Sequence[str] = ()) -> Planned:
    """The job of this kind for this host."""
    subject, title, steps = KINDS[kind](host)
    return Planned(kind, subject, title, steps, then)


Made = tuple[str, Text, Sequence[Step]]


def _check(host: inventory.Host) -> Made:
    steps = [
        Step("ask", say("Ask the host about itself"), action="probe", expected_s=2, timeout_s=120),
        Step("judge", say("Compare with what the pilot needs"), action="judge", expected_s=0.2),
    ]
    return f"host:{host.id}", say("Check {host}", host=host.title), steps


def ask_again(check: str, host_id: int, *, actor: str) -> int:
    """Queue the questions of one check alone; what else is known of the host stays as old as it is."""
    host = inventory.host(host_id)
    steps = [
        Step("ask", say("Ask what this check needs"), action="probe", arguments={"check": check}, timeout_s=120),
    ]
    title = say("Check “{check}” on {host}", check=CHECKS[check].title, host=host.title)
    return enqueue(RECHECK, f"check:{host_id}:{check}", host_id, title, steps, actor=actor)


def _install(host: inventory.Host) -> Made:
    """What the pilot of this host computes with: see `ways.way_of`."""
    if way_of(host).backend in stacks.ROUTES:
        subject, title, steps = installing.made(host, stacks.last_wish(host) or stacks.Wish())
        see = Step("model", say("See that there is a model to serve"), action="see_model", timeout_s=4 * 3600)
        return subject, title, [*steps, see]
    look = Step("look", say("Note what is installed now"), action="look_at_runtime", expected_s=1, timeout_s=120)
    return f"host:{host.id}", say("Install vLLM on {host}", host=host.title), [*local_cpu.plan(target(host)), look]


def _start(host: inventory.Host) -> Made:
    instance_id = launch.pilot_instance(host, way_of(host).backend)
    return start_instance(instance_id)


def start_instance(instance_id: int) -> Made:
    """Starting one instance: launch it, then wait until it has answered well."""
    one = instances.instance(instance_id)
    arguments = {"instance": instance_id}
    steps = [
        Step("launch", say("Start the server"), action="launch", arguments=arguments, expected_s=1),
        Step(
            "answer",
            say("Wait until it answers, and judge its answer"),
            action="await_ready",
            arguments=arguments,
            expected_s=40,
            timeout_s=900,
        ),
    ]
    return one.subject, say("Start {name}", name=one.name), steps


def restart_instance(instance_id: int) -> Made:
    """The same after ending the attempt that runs."""
    subject, _, steps = start_instance(instance_id)
    name = instances.instance(instance_id).name
    first = Step(
        "stop",
        say("Stop the server"),
        action="await_stopped",
        arguments={"instance": instance_id},
        expected_s=5,
        timeout_s=120,
    )
    return subject, say("Restart {name}", name=name), [first, *steps]


def _try(host: inventory.Host) -> Made:
    steps = [Step("ask", say("Ask a first question"), action="ask", expected_s=2, timeout_s=120)]
    return f"host:{host.id}", say("First answer on {host}", host=host.title), steps


def _measure(host: inventory.Host) -> Made:
    steps = [
        Step(
            "one",
            say("One request at a time"),
            action="measure",
            arguments={"concurrency": 1, "requests": 6},
            expected_s=8,
            timeout_s=600,
        ),
        Step(
            "four",
            say("Four requests at a time"),
            action="measure",
            arguments={"concurrency": 4, "requests": 12},
            expected_s=10,
            timeout_s=600,
        ),
    ]
    return f"host:{host.id}", say("Measure {host}", host=host.title), steps


KINDS: Mapping[str, Callable[[inventory.Host], Made]] = {
    "check": _check,
    "install": _install,
    "start": _start,
    "try": _try,
    "measure": _measure,
}


def target(host: inventory.Host) -> local_cpu.LocalCpuTarget:
    """Where and for which machine the CPU runtime is installed."""
    return local_cpu.LocalCpuTarget(work_folder=host.work_folder, machine=arch(host))
