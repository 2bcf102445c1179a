"""Servers on the NPUs of a rehearsal host, by both backends, over real SSH: installed, served, asked, stopped, gone."""

import re
import shutil
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from console.errors import EngineError
from console.hosts.inventory import Host
from console.hosts.journal import JOURNAL
from console.jobs import installing, path
from console.jobs.logs import attempt_log
from console.jobs.stacks import Wish
from console.plans.refusals import Route
from console.serving import exports, instances, launch, lessons, npu_defaults, seats
from console.serving.client import EngineClient
from console.serving.instances import Instance
from console.serving.place import runtime_folder
from console.serving.shelf import shape_on
from console.serving.state import State
from console.settings import settings
from tests.e2e.conftest import built
from tests.jobs.conftest import WorkerProcess, data, worker
from tests.jobs.npus import Make, carried, make, run, told
from tests.running import free_port, living, until
from tests.serving.test_ascend_backends import npus
from tests.survival.npu_models import bring

__all__ = ["built", "data", "make", "worker"]
pytestmark = [pytest.mark.engine, pytest.mark.needs("sshd", "ssh-keygen")]
BACKENDS = {Route.DOCKER: "ascend_docker", Route.VENV: "ascend_venv"}


def installed(make: Make, worker: WorkerProcess, route: Route, folder: Path) -> Host:
    """A host with a model, installed by this route from what lies there."""
    host = make("two-healthy-910b4")
    bring(host, folder / "tiny")
    worker.start()
    job = carried(installing.start(host.id, Wish(route), actor="wang"))
    assert job.state == "succeeded", told(job)
    return host


def server(host: Host, backend: str, *, number: int = 0) -> Instance:
    """One that asks for a key, entered and not started, on the card with this number."""
    spec, model = npu_defaults.first_that_fits(host, backend, launch.models_on(host), launch.machine(host))
    spec = replace(spec, api_key=True, port=free_port(), device_ids=(number,), served_name=f"tiny{number}")
    return instances.instance(instances.create(host.id, spec, noise=model.noise, actor="wang"))


def started(one: Instance) -> Instance:
    job = carried(path.queue(path.start_instance(one.id), "start", one.host_id, actor="wang"))
    assert job.state == "succeeded", f"{told(job)}\n{attempt_log(one.id, 1).tail()}"
    return instances.instance(one.id)


def answer(one: Instance, key: str | None) -> str:
    with EngineClient(f"http://{one.address}", key) as client:
        stream = client.chat_stream(one.spec.served_name, [{"role": "user", "content": "What is 2 + 2?"}])
        for _ in stream:
            pass
        return stream.reply.text


def listens_at(host: Host, port: int) -> set[str]:
    """Addresses in the kernel's own hexadecimal."""
    words = run(host, "cat /proc/net/tcp").splitlines()[1:]
    rows = [row.split() for row in words]
    return {at for at, _, there in (row[1].partition(":") for row in rows if row[3] == "0A") if int(there, 16) == port}


def left(host: Host) -> str:
    """What is left of servers on the host: processes, containers, holders of cards."""
    everything = run(host, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; docker ps -aq; npu-smi info")
    return "\n".join(line for line in everything.splitlines() if "vllm" in line or "python" in line)


def holders(host: Host) -> str:
    return run(host, "npu-smi info").partition("Process id")[2]


def seen_by_others(host: Host) -> str:
    """What every user of this machine and of the host may read: command lines, the log of the container."""
    here = []
    for pid in living():
        with suppress(OSError):
            here.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace"))
    boxes = run(host, "for one in $(docker ps -q); do docker logs $one; docker ps; done 2>&1")
    return "\n".join([*here, boxes, run(host, "cat /proc/[0-9]*/cmdline 2>/dev/null; ps -eww -o args")])


def kept(one: Instance, host: Host) -> str:
    """What the console keeps and hands out: database, logs, commands, exports, and what lies on the host."""
    JOURNAL.flush()
    files = [file for file in settings().data.rglob("*") if file.is_file() and "rehearsal" not in file.parts]
    texts = [file.read_bytes().decode(errors="replace") for file in files if file.parent.name != "keys"]
    texts += [exports.export(one.spec, form, runtime_folder(host, one.backend)) for form in exports.forms(one.spec)]
    there = run(host, f"find {host.work_folder}/instances -type f -exec cat {{}} +")
    return "\n".join([*texts, there, one.address])


@pytest.mark.parametrize("route", [Route.DOCKER, Route.VENV])
def test_it_is_installed_asked_and_gone(route: Route, make: Make, worker: WorkerProcess, tmp_path: Path) -> None:
    host = installed(make, worker, route, tmp_path)
    one = started(server(host, BACKENDS[route]))
    assert one.state == State.ready
    assert one.address != f"127.0.0.1:{one.spec.port}", "through the SSH connection"
    assert listens_at(host, one.spec.port) == {"0100007F"}, "on the loopback of the host alone"
    key = launch.api_key(one)
    assert key
    assert answer(one, key) == "2 + 2 equals 4."
    with pytest.raises(EngineError):
        answer(one, None)
    log = attempt_log(one.id, 1).tail()
    assert "Rehearsal: this is a stand-in for vLLM" in log
    assert "the pretended engine answers in the place of" in log
    assert "/v1/chat/completions" in log
    assert "GET /health" not in log, "asked every two seconds, it would be all that is read"
    assert key not in seen_by_others(host)
    assert key not in kept(one, host)
    assert "python" in holders(host)
    assert lessons.shape_of(one.health.get(lessons.SHAPE)) == shape_on(host, one.spec.model_folder)
    gone(one, host)
    if route is Route.DOCKER:
        by_sudo(one, host)
    else:
        from_a_home(one, host)


HOLD = "setsid python3 -c 'import time; held = open(\"/dev/davinci{number}\"); time.sleep(300)' >/dev/null 2>&1 &"
"""A program that keeps a card, as a stranger's server does."""


@pytest.mark.parametrize("backend", ["ascend_docker", "ascend_venv"])
def test_a_card_that_a_stranger_holds_is_not_to_be_had(backend: str, make: Make) -> None:
    host = make("held-by-container")
    free = [one for one in seats.seats(host, backend) if one.taken is None]
    held = [one for one in seats.seats(host, backend) if one.taken is not None]
    assert (len(free), len(held)) == (1, 1)
    assert "container" in str(held[0].taken)
    run(host, HOLD.format(number=free[0].number))
    until(lambda: all(one.taken is not None for one in seats.seats(host, backend)), what="a held card")
    found = seats.seats(host, backend)
    assert "python3 (PID" in str(next(one for one in found if one.number == free[0].number).taken)
    wrong = seats.refusals(found, npus(backend=backend, device_ids=(free[0].number,)))
    assert [one.field for one in wrong] == ["device_ids"]
    assert "is held by" in str(wrong[0].reason)
    assert wrong[0].instead is None, "no card is free"


@pytest.mark.real_vllm
def test_a_real_engine_answers_in_a_container(
    built: Path, data: Path, make: Make, worker: WorkerProcess, tmp_path: Path
) -> None:
    """Where the console has the runtime for its CPU, a rehearsal host sees it, and the stand-in starts it."""
    data.mkdir()
    (data / "runtimes").symlink_to(built / "runtimes")
    (small,) = (built / "models").glob("SmolLM2*")
    shutil.copytree(small, data / "models" / small.name)
    host = installed(make, worker, Route.DOCKER, tmp_path)
    one = started(server(host, "ascend_docker"))
    log = attempt_log(one.id, 1).tail(10**6)
    assert "a real vLLM on the CPU answers, with the small model SmolLM2" in log
    assert re.search(r"CPU KV cache size: [\d,]+ tokens", log)
    with EngineClient(f"http://{one.address}", launch.api_key(one)) as client:
        question = [{"role": "user", "content": "What is the capital of France?"}]
        stream = client.chat_stream(one.spec.served_name, question, temperature=0, max_tokens=32)
        for _ in stream:
            pass
    assert "Paris" in stream.reply.text
    key = launch.api_key(one)
    assert key
    assert key not in seen_by_others(host)
    held = holders(host)
    assert "No running processes found in NPU 0" not in held, held
    gone(one, host)


def gone(one: Instance, host: Host) -> None:
    """Stopped, and nothing of it is left."""
    instances.wish_down(one.id, actor="wang")
    until(lambda: instances.instance(one.id).state == State.stopped)
    assert listens_at(host, one.spec.port) == set()
    until(lambda: "No running processes found in NPU 0" in holders(host), what="a free card")
    assert left(host) == ""


HOME = r"""
mkdir "$HOME/Ascend" && cd /usr/local/Ascend && mv cann* nnal ascend-toolkit "$HOME/Ascend"
grep -rlI /usr/local/Ascend "$HOME/Ascend" | xargs sed -i "s,/usr/local/Ascend/\([can]\),$HOME/Ascend/\1,g"
echo "$HOME/Ascend"
"""


def from_a_home(one: Instance, host: Host) -> None:
    """The same server where CANN lies in the home of its user, as after an installation without root."""
    there = run(host, HOME).strip()
    again = started(one)
    assert f". {there}/nnal/atb/set_env.sh" in instances.attempts(one.id)[0].command
    assert answer(again, launch.api_key(one)) == "2 + 2 equals 4."
    gone(one, host)
    run(host, f"rm -r {there}/nnal")
    job = carried(path.queue(path.start_instance(one.id), "start", host.id, actor="wang"))
    assert "NNAL is not beside it" in str(job.steps[0].reason)


def by_sudo(one: Instance, host: Host) -> None:
    """The same server for a user who may use Docker as root only; the key goes with it."""
    login = '{"user": "pilot", "uid": 1000, "home": "/home/pilot", "sudo": "nopasswd"}'
    run(host, f"useradd -m pilot && printf %s '{login}' >/var/lib/rehearsal/login.json")
    assert "permission denied" in run(host, "docker ps 2>&1 || true")
    again = started(one)
    begin = "  sudo -n \\\n  --preserve-env=VLLM_API_KEY docker run \\\n"
    assert begin in instances.attempts(one.id)[0].command
    assert answer(again, launch.api_key(one)) == "2 + 2 equals 4."
    instances.wish_down(one.id, actor="wang")
    until(lambda: instances.instance(one.id).state == State.stopped)
    assert run(host, "sudo docker ps -aq") == ""


def test_two_servers_share_a_host_and_outlive_the_worker(make: Make, worker: WorkerProcess, tmp_path: Path) -> None:
    """A container that is ended from outside has failed, with its code and the end of its log."""
    host = installed(make, worker, Route.DOCKER, tmp_path)
    first, second = server(host, "ascend_docker"), server(host, "ascend_docker", number=1)
    path.queue(path.start_instance(first.id), "start", host.id, actor="wang")
    until(lambda: instances.instance(first.id).attempt == 1)
    worker.kill(signal.SIGKILL)
    worker.start()
    until(lambda: instances.instance(first.id).state == State.ready, what="a ready server")
    second = started(second)
    assert instances.attempts(first.id)[1:] == [], "the next worker took over what the killed one had started"
    assert answer(second, launch.api_key(second)) == "2 + 2 equals 4."
    named = run(host, "docker ps --format '{{.Names}}'").split()
    assert sorted(named) == sorted(f"pilot-{one.spec.served_name}-{one.spec.port}" for one in (first, second))
    run(host, f"docker kill pilot-tiny0-{first.spec.port}")
    until(lambda: instances.instance(first.id).state == State.failed, what="a failed server")
    assert "137" in str(instances.instance(first.id).reason)
    (attempt,) = instances.attempts(first.id)
    assert attempt.code == 137
    assert "Application startup complete" in attempt_log(first.id, 1).tail()
    run(host, f"docker stop -t 5 pilot-tiny1-{second.spec.port}")
    until(lambda: instances.instance(second.id).state == State.failed, what="a failed server")
    assert instances.attempts(second.id)[0].code == 0
    assert "Shutting down" in attempt_log(second.id, 1).tail()
    assert left(host) == ""
