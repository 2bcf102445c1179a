"""Whoever is about to be started has its port already: the next one is offered another."""

from pathlib import Path

from console.hosts.inventory import Host
from console.jobs import jobs, path
from console.serving import claims, instances, launch
from console.serving.asked import ServeSpec
from console.serving.spec import free_port
from tests.jobs.conftest import data, host
from tests.pretended_machine import SMALL, write_model

__all__ = ["data", "host"]


def entered(host: Host, port: int, name: str = "one") -> instances.Instance:
    folder = f"{host.work_folder}/models/m"
    spec = ServeSpec(backend="local_cpu", model_folder=folder, served_name=name, port=port, context=512)
    return instances.instance(instances.create(host.id, spec, noise=False, actor="ann"))


def queued(one: instances.Instance) -> int:
    return path.queue(path.start_instance(one.id), "start", one.host_id, actor="ann")


def test_only_entered_it_has_no_claim(host: Host) -> None:
    entered(host, 18123)
    assert claims.ports(host.id) == {}


def test_from_the_queue_to_its_end_it_has_its_port(host: Host) -> None:
    port = free_port(launch.machine(host))
    one = entered(host, port)
    job = queued(one)
    assert claims.ports(host.id) == {port: one.name}
    assert free_port(launch.machine(host)) > port
    jobs.cancel(job, actor="ann")
    assert claims.ports(host.id) == {}
    assert free_port(launch.machine(host)) == port
    instances.begin_attempt(one.id, actor="ann")
    assert claims.ports(host.id) == {port: one.name}


def test_on_another_host_the_port_is_free(host: Host) -> None:
    queued(entered(host, 18123))
    assert claims.ports(host.id + 1) == {}


def test_two_that_wait_for_the_same_port_do_not_refuse_each_other(host: Host) -> None:
    write_model(Path(host.work_folder) / "models" / "m", SMALL)
    port = free_port(launch.machine(host))
    both = [entered(host, port, name) for name in ("one", "other")]
    for one in both:
        queued(one)
    assert [launch.reasons_against(host, one.spec) for one in both] == [[], []]
