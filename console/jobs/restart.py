"""Restarting a host as a step of a job: ask, restart, wait until it is back from another boot, and go on."""

import shlex
import time
from typing import TYPE_CHECKING

from console.errors import HostError, Unreachable
from console.jobs.ends import StepFailed
from console.jobs.follow import run_script
from console.jobs.logs import Log
from console.plans.step import Step
from console.records import reading
from console.text import say
from db import models

if TYPE_CHECKING:
    from console.jobs.carry import Carry

TICK_S = 1.0
SETTLE_S = 180.0
"""Seconds a driver may take after the start of the host until every NPU answers."""
BOOT = "cat /proc/sys/kernel/random/boot_id"


def restart_host(carry: "Carry", step: Step, log: Log) -> None:
    """Run the step's script, which asks and restarts; return once the host is back and the driver has settled.

    A worker that takes the job over finds the script in its folder on the host, so nothing is done twice.
    """
    begun = time.monotonic()
    while not _restarted(carry, step):
        if time.monotonic() - begun > step.timeout_s:
            break
        carry.rest(TICK_S)
    _await_boot(carry, step, begun)
    _await_driver(carry, step)
    carry.tell(None)


def _restarted(carry: "Carry", step: Step) -> bool:
    """Run the script, or look at it again; false while a host that goes down or comes up refuses its users."""
    try:
        run_script(carry, _number(carry, step), step)
    except StepFailed as failure:
        if failure.code is not None:
            raise
        # else the host went down before the script had written its exit code; whether it did is seen afterwards
    except Unreachable:
        raise
    except HostError as error:
        carry.tell(error.text)
        return False
    return True


def _number(carry: "Carry", step: Step) -> int:
    with reading() as session:
        steps = session.get_one(models.Job, carry.job_id).steps
        return next(one.number for one in steps if one.name == step.name)


def _await_boot(carry: "Carry", step: Step, begun: float) -> None:
    """Until the boot is another one than when the script ran, which noted it in the work folder."""
    noted = f"{BOOT} | grep -vxF -f {shlex.quote(carry.work_folder)}/installs/restarting"
    while True:
        carry.wanted()
        try:
            if carry.runner.run(noted, timeout_s=15).code == 0:
                return
            words = say("Waiting until {host} goes down for its restart.", host=carry.host.title)
        except HostError:
            words = say(
                "{host} restarts; it has been away for {seconds} s.",
                host=carry.host.title,
                seconds=round(time.monotonic() - begun),
            )
        if time.monotonic() - begun > step.timeout_s:
            raise StepFailed(
                say(
                    "{host} did not come back from its restart within {limit} s. Look at its console; once it is up, "
                    "resume this job.",
                    host=carry.host.title,
                    limit=round(step.timeout_s),
                )
            )
        carry.tell(words)
        carry.rest(TICK_S)


def _await_driver(carry: "Carry", step: Step) -> None:
    """The driver starts its NPUs one after the other once the host is up; the check of the step judges in the end."""
    begun = time.monotonic()
    while time.monotonic() - begun < SETTLE_S:
        try:
            if carry.runner.run(step.verify, timeout_s=90).code == 0:
                return
        except HostError:
            pass  # it may not have come up whole yet
        carry.tell(say("{host} is back; waiting for its NPUs.", host=carry.host.title))
        carry.rest(TICK_S)
