"""Stopping an instance and seeing it through, with a worker or without one."""

import threading
import time

from console.errors import EngineError
from console.hosts import inventory
from console.hosts.process import Detached
from console.jobs import jobs
from console.jobs.jobs import active_job
from console.jobs.worker import held
from console.records import reading
from console.serving import container, instances
from console.serving.state import State
from console.serving.watch import Watch
from console.text import say

LIMIT_S = 60.0


def stop(instance_id: int, *, actor: str) -> None:
    """Cancel what starts it, wish it down, and return when none of its processes is left. EngineError otherwise."""
    ask(instance_id, actor=actor)
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        one = instances.stored(instance_id)
        if one is None or one.state in (State.stopped,) or (not one.attempt):
            return
        if not held():
            _by_hand(one)
            return
        time.sleep(0.2)
    raise EngineError(say("It did not stop within {limit} s.", limit=round(LIMIT_S)))


def ask(instance_id: int, *, actor: str) -> None:
    """Say that it shall stop; the worker does it."""
    with reading() as session:
        starting = active_job(session, f"instance:{instance_id}")
    if starting is not None:
        jobs.cancel(starting.id, actor=actor)
    instances.wish_down(instance_id, actor=actor)


def _by_hand(one: instances.Instance) -> None:
    """No worker lives: end the processes here and write down what the worker would have."""
    host = inventory.host(one.host_id)
    container.end(one.spec, Detached(inventory.runner(host), instances.folder(host, one.id, one.attempt)))
    Watch(one.id, threading.Event()).run()
