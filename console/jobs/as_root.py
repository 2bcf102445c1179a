"""When a step's script asks for the password of sudo: the worker hands over what it knows, or the job waits for it."""

import time
from typing import TYPE_CHECKING

from console.hosts import sudo
from console.hosts.inventory import Host
from console.hosts.process import Detached
from console.hosts.secrets import HELD
from console.jobs.asking import ask
from console.jobs.ends import StepFailed
from console.jobs.ride import ride
from console.text import Text, say

if TYPE_CHECKING:
    from console.jobs.carry import Carry

GIVEN = "given"
"""The answer of a job whose password was handed to the worker."""
_handed: dict[str, str] = {}
"""Folder of a command -> pid of the sudo that was handed a password last: if that asks again, it was a wrong one."""


def question(host: Host) -> Text:
    user = "" if host.reach is None else host.reach.user
    return say(
        "sudo on {host} asks for the password of {user}. It is kept in the worker's memory only, handed to sudo, and "
        "never stored.",
        host=host.title,
        user=user,
    )


def is_asked(asked: Text | None, host: Host) -> bool:
    """Whether this question of a job is the one for a password."""
    return asked is not None and asked.sentence == question(host).sentence


def hand_over(carry: "Carry", detached: Detached, pid: str) -> float:
    """Give sudo its password, after a person has given it to the worker; the seconds that this took.

    StepFailed when the person does not give it; Cancelled and LetGo come through.
    """
    begun = time.time()
    if _handed.pop(detached.folder, None) == pid:
        HELD.forget(carry.host_id)
    while (password := HELD.get(carry.host_id)) is None:
        if ask(carry, question(carry.host)) != GIVEN:
            ride(carry, detached.stop, 0)
            raise StepFailed(say("sudo needs a password, and nobody gave it. Resume the job to be asked again."))
    _handed[detached.folder] = pid
    ride(carry, lambda: sudo.hand(carry.runner, detached.folder, pid, password), 0)
    return time.time() - begun
