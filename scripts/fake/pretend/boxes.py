"""Containers of the simulated engine: real processes in the host's namespace, named, with cards and a log.

They share the host's files and network; what would need more is refused in a sentence by the docker program.
"""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pretend import load, place

BOX = "REHEARSAL_BOX"
NODES = "REHEARSAL_NODES"
IMAGE = "REHEARSAL_IMAGE"
HEARD = "REHEARSAL_HEARD"
"""Set in a container with a network of its own: `port=address` of each published port."""
STATE = "docker"


def create(spec: place.Data) -> place.Data:
    """Remember a container; it is not started yet. `holds`: it only keeps cards, as a stranger's server does."""
    with place.changing(STATE) as kept:
        seed = f"{spec['name']}{time.time_ns()}{len(kept['containers'])}"
        box = {
            "id": hashlib.sha256(seed.encode()).hexdigest(),
            "created": time.time(),
            "pid": None,
            "code": None,
            **spec,
        }
        kept["containers"].append(box)
    return box


def all_boxes() -> list[place.Data]:
    """Every container, with `running` and `code` as they are now; the engine removes what was run with --rm itself."""
    with place.changing(STATE) as kept:
        for box in list(kept["containers"]):
            if box["pid"] and not alive(box):
                box |= {"pid": None, "code": code(box)}
                if box.get("auto_remove"):
                    kept["containers"].remove(box)
                    log(box).unlink(missing_ok=True)
        return list(kept["containers"])


def find(word: str) -> place.Data | None:
    """By name, or by the beginning of the id."""
    return next((box for box in all_boxes() if box["name"] == word or (word and box["id"].startswith(word))), None)


def alive(box: place.Data) -> bool:
    """A number may belong to another process by now, so its environment counts."""
    try:
        words = Path(f"/proc/{box['pid']}/environ").read_bytes().split(b"\0")
        state = Path(f"/proc/{box['pid']}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and f"{BOX}={box['id']}".encode() in words


def log(box: place.Data) -> Path:
    return place.at(f"/var/lib/rehearsal/boxes/{box['id']}.log")


def code(box: place.Data) -> int:
    """How its process ended; 137 when it was killed."""
    file = log(box).with_suffix(".code")
    return int(file.read_text()) if file.exists() and file.read_text().strip() else 137


def boot() -> None:
    """Start what restarts by itself, as the engine does when the host has booted."""
    for box in all_boxes():
        if box["pid"] is None and box.get("restart") in ("always", "unless-stopped") and not box.get("stopped"):
            start(box)


def start(box: place.Data) -> int:
    """Run its process in a session of its own; its number."""
    log(box).parent.mkdir(parents=True, exist_ok=True)
    log(box).with_suffix(".code").unlink(missing_ok=True)
    nodes = [str(node) for node in box.get("nodes", [])]
    environment = {**os.environ, **box.get("environment", {}), **own_words(box)}
    if holds := box.get("holds"):
        environment["REHEARSAL_HBM_MB"] = str(holds["hbm_mb"])
        files = [str(place.at(f"/dev/davinci{node}")) for node in nodes]
        command = [_python(), "-IS", f"{place.FAKE}/pretend/holder.py", holds["name"], *files, *_watched()]
    else:
        told = 'trap : HUP INT TERM; "$@"; echo $? >"$0"'
        command = ["sh", "-c", told, str(log(box).with_suffix(".code")), *box["command"]]
    with open(log(box), "ab") as out:
        running = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, start_new_session=True,
            cwd=place.at(box.get("folder", "/")),
        )  # fmt: skip
    _change(box["id"], pid=running.pid, code=None, stopped=False, started=time.time())
    mark(running.pid, box["id"])
    return running.pid


def own_words(box: place.Data) -> dict[str, str]:
    """What only processes of this container have in their environment."""
    nodes = ",".join(str(node) for node in box.get("nodes", []))
    path = f"{place.FAKE}/boxed:{os.environ.get('PATH', os.defpath)}"
    return {BOX: box["id"], NODES: nodes, IMAGE: box.get("image", ""), "PATH": path, **heard(box)}


def heard(box: place.Data) -> dict[str, str]:
    """The variable for the processes of a container; none where it sees the host's network."""
    if box.get("network") == "host":
        return {}
    return {HEARD: ",".join(f"{port}={ip or '0.0.0.0'}" for ip, port in box.get("publish", []))}


def _python() -> str:
    return sys.executable or "python3"


def _watched() -> list[str]:
    """A container ends with its host, whose first process's number stands in this file."""
    file = place.at(f"{place.RUN}/init.pid")
    return ["--while", file.read_text().strip()] if file.exists() else []


def mark(pid: int, box_id: str) -> None:
    """Let the process say in its cgroup which container it is in; the mount goes with the process."""
    target = f"/proc/{pid}/cgroup"
    words = f"0::/system.slice/docker-{box_id}.scope\n"
    try:
        if Path(target).read_text() == words:
            return
    except OSError:
        return
    place.put(f"{place.RUN}/cgroups/{box_id}", words)
    source = str(place.at(f"{place.RUN}/cgroups/{box_id}"))
    subprocess.run(["mount", "--bind", source, target], capture_output=True, check=False)


def mark_all(pids: list[int]) -> None:
    """The same for what a container's process has started since."""
    for pid in pids:
        try:
            box_id = load.variable(f"/proc/{pid}", BOX)
        except OSError:
            continue
        if box_id:
            mark(pid, box_id)


def stop(box: place.Data, patience_s: float) -> None:
    """Interrupt its processes, and end what is left after `patience_s`."""
    _change(box["id"], stopped=True)
    if not box["pid"] or not alive(box):
        return
    for sent, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, 2.0)):
        try:
            os.killpg(box["pid"], sent)
        except ProcessLookupError:
            break
        ends = time.monotonic() + wait_s
        while alive(box) and time.monotonic() < ends:
            time.sleep(0.05)
        if not alive(box):
            break
    all_boxes()


def remove(box: place.Data) -> None:
    with place.changing(STATE) as kept:
        kept["containers"] = [one for one in kept["containers"] if one["id"] != box["id"]]
    log(box).unlink(missing_ok=True)


def _change(box_id: str, **values: object) -> None:
    with place.changing(STATE) as kept:
        for box in kept["containers"]:
            if box["id"] == box_id:
                box |= values
