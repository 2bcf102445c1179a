"""An engine whose /health says 200 while no token comes is called unwell, and well again when it goes on."""

import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.hosts import inventory
from console.hosts.process import Detached
from console.serving import instances, progress
from console.serving.client import EngineClient
from console.serving.spec import ServeSpec
from console.serving.state import State
from console.serving.watch import Watch
from tests.hosts.conftest import data
from tests.running import free_port, until

__all__ = ["data"]
pytestmark = pytest.mark.e2e
FAKE = Path(__file__).parents[2] / "scripts" / "fake" / "vllm_server.py"
HANGS_AFTER = 60
"""Tokens; more than the watcher itself ever asks for and gets."""
ASK = """
import json, sys, urllib.request
asked = {"model": "smol", "stream": True, "max_tokens": 400, "messages": [{"role": "user", "content": "count to 200"}]}
request = urllib.request.Request(
    sys.argv[1] + "/v1/chat/completions", json.dumps(asked).encode(), {"Content-Type": "application/json"}
)
urllib.request.urlopen(request).read()
"""
"""A person's question, which never gets its whole answer."""


@pytest.fixture
def engine(data: Path) -> Iterator[instances.Instance]:
    """A real process of the pretended vLLM whose longer answers stop half way, watched as the worker does it."""
    host = inventory.this_machine()
    spec = ServeSpec(
        backend="local_cpu", model_folder="/nowhere/smol", served_name="smol", port=free_port(), context=512
    )
    number = instances.create(host.id, spec, noise=False, actor="me")
    attempt = instances.begin_attempt(number, actor="me")
    detached = Detached(inventory.runner(host), attempt.folder)
    words = ["serve", "/nowhere/smol", "--served-model-name", "smol", "--host", "127.0.0.1", "--port", str(spec.port)]
    detached.start(f"FAKE_VLLM='--hang-after {HANGS_AFTER}' exec {shlex.join([sys.executable, str(FAKE), *words])}\n")
    going_down = threading.Event()
    watching = threading.Thread(target=Watch(number, going_down).run)
    watching.start()
    yield instances.instance(number)
    going_down.set()
    watching.join()
    detached.stop()


def state(one: instances.Instance) -> State:
    return instances.instance(one.id).state


def test_health_alone_is_no_proof_of_life(engine: instances.Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "STUCK_S", 1.0)
    until(lambda: state(engine) == State.ready)
    asking = subprocess.Popen([sys.executable, "-c", ASK, f"http://{engine.address}"])
    until(lambda: state(engine) == State.unwell)
    with EngineClient(f"http://{engine.address}", answer_s=2.0) as other:
        other.health()  # it still says that all is well
    assert "its requests have not moved for" in str(instances.instance(engine.id).reason)
    assert asking.poll() is None
    asking.kill()
    asking.wait()
    until(lambda: state(engine) == State.ready)
