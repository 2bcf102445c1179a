"""Which servers of a host have a claim to its ports and cards: those that hold them, and those about to be started."""

from console.jobs import history
from console.serving import instances
from console.serving.instances import Instance


def claims(host_id: int) -> list[Instance]:
    """Servers that are not known to have ended, and those that a job is at work on, be it still in the queue."""
    at_work = {job.subject for job in history.jobs(host_id=host_id, active_only=True)}
    mine = [one for one in instances.instances() if one.host_id == host_id]
    return [one for one in mine if instances.holds(one) or one.subject in at_work]


def ports(host_id: int) -> dict[int, str]:
    """Port -> name of the server that has a claim to it, whether or not it listens there yet."""
    return {one.spec.port: one.name for one in claims(host_id)}
