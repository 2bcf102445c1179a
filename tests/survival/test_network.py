"""A server that the whole network reaches: by an address of this machine, with its key and not without."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from console.hosts.inventory import Host
from console.jobs import path
from console.serving import instances, launch
from console.serving.backends.ascend_docker import EVERYWHERE
from console.serving.instances import Instance
from console.serving.state import State
from tests.jobs.conftest import data, ended, worker
from tests.pretended_machine import machine
from tests.running import free_port, session_of, until

__all__ = ["data", "machine", "worker"]
pytestmark = [pytest.mark.engine]


def own_address() -> str:
    """One of this machine by which others reach it."""
    if told := os.environ.get("PILOT_TEST_ADDRESS"):  # in a network of its own, `hostname -I` says nothing
        return told
    program = shutil.which("hostname")
    said = subprocess.run([program, "-I"], capture_output=True, text=True, check=False).stdout if program else ""
    found = next((one for one in said.split() if "." in one and not one.startswith("127.")), None)
    if found is None:
        pytest.skip("this machine has no address but its loopback")
    return found


def entered(host: Host, *, key: bool) -> Instance:
    """The server of the pilot, for the whole network."""
    usual = instances.instance(launch.pilot_instance(host)).spec
    spec = replace(usual, host=EVERYWHERE, api_key=key, port=free_port(EVERYWHERE), served_name="open")
    return instances.instance(instances.create(host.id, spec, noise=False, actor="me"))


def start(one: Instance) -> int:
    return path.queue(path.start_instance(one.id), "start", one.host_id, actor="me")


def asked(url: str, key: str | None) -> httpx.Response:
    question = {"model": "open", "messages": [{"role": "user", "content": "What is 2 + 2?"}]}
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx.post(f"{url}/v1/chat/completions", headers=headers, json=question, trust_env=False)


def test_the_network_reaches_it_with_the_key_alone(machine: Host) -> None:
    address, one = own_address(), entered(machine, key=True)
    start(one)
    until(lambda: instances.instance(one.id).state == State.ready, what="a ready server")
    url, key = f"http://{address}:{one.spec.port}", launch.api_key(one)
    assert key
    assert asked(url, key).json()["choices"][0]["message"]["content"] == "2 + 2 equals 4."
    assert [asked(url, wrong).status_code for wrong in (None, "-", key[:-1], key.swapcase())] == [401] * 4
    instances.wish_down(one.id, actor="me")
    until(lambda: instances.instance(one.id).state == State.stopped, what="its end")
    assert session_of(Path(instances.attempts(one.id)[0].folder)) == []
    with pytest.raises(httpx.ConnectError):
        asked(url, key)


def test_without_a_key_it_is_refused_before_anything_runs(machine: Host) -> None:
    one = entered(machine, key=False)
    (wrong,) = launch.reasons_against(machine, one.spec)
    assert (wrong.field, str(wrong.instead)) == ("host", "Use 127.0.0.1, or switch on the API key.")
    job = ended(start(one))
    assert job.state == "failed"
    assert "every machine of the network could use this server, without a key" in str(job.reason)
    assert instances.attempts(one.id) == [], "nothing was started"
