"""`docker run` and `docker exec`: the command becomes a real process, which shares the host's files and network."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from pretend import boxes, docker_ports, images, place
from pretend.docker_words import Refused

Given = dict[str, list[str]]
NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]+")
SIZE = re.compile(r"\d+(\.\d+)? ?[bkmgtKMGT]?i?[bB]?")
HELP = "See 'docker run --help'."
DAEMON = "docker: Error response from daemon:"


def checked(given: Given) -> Given:
    """What the real one refuses of the options by themselves, before it talks to the engine."""
    size = given.get("shm-size", ["64m"])[-1]
    if not SIZE.fullmatch(size):
        why = f'invalid argument "{size}" for "--shm-size" flag: invalid size: \'{size}\''
        raise Refused(f"{why}\n{HELP}", 125)
    if "rm" in given and given.get("restart", ["no"])[-1] not in ("", "no"):
        raise Refused(f"docker: conflicting options: cannot specify both --restart and --rm.\n{HELP}", 125)
    pull = given.get("pull", ["missing"])[-1]
    if pull not in ("always", "missing", "never"):
        why = f'invalid pull option: \'{pull}\': must be one of "always", "missing" or "never"'
        raise Refused(f"docker: {why}.\n{HELP}", 125)
    for port in given.get("publish", []):
        docker_ports.published(port)
    environment_of(given)
    return given


def run(given: Given, arguments: list[str]) -> int:
    image = images.found(arguments[0], given.get("pull", ["missing"])[-1])
    if image is None:
        return 125
    _may(given)
    box = boxes.create(_spec(given, arguments))
    try:
        docker_ports.take(box)
        _executable(box)
    except Refused:
        if "rm" in given:
            boxes.remove(box)
        raise
    boxes.start(box)
    if "detach" in given:
        print(box["id"])
        return 0
    return _wait(box)


def _spec(given: Given, arguments: list[str]) -> place.Data:
    return {
        "name": _name(given),
        "image": images.full(arguments[0]),
        "command": _command(given, arguments[1:]),
        "nodes": _nodes(given),
        "environment": environment_of(given),
        "folder": given.get("workdir", ["/"])[-1],
        "restart": given.get("restart", ["no"])[-1],
        "shm": given.get("shm-size", ["64m"])[-1],
        "network": _network(given),
        "publish": []
        if _network(given) == "host"
        else [docker_ports.published(one) for one in given.get("publish", [])],
        "auto_remove": "rm" in given,
    }


def _name(given: Given) -> str:
    name = given.get("name", [f"rehearsal_{len(boxes.all_boxes()) + 1}"])[-1]
    if not NAME.fullmatch(name):
        why = f"Invalid container name ({name}), only [a-zA-Z0-9][a-zA-Z0-9_.-] are allowed."
        raise Refused(f"{DAEMON} {why}\n{HELP}", 125)
    if (taken := boxes.find(name)) and taken["name"] == name:
        why = f'Conflict. The container name "/{name}" is already in use by container "{taken["id"]}". You have to '
        raise Refused(f"{DAEMON} {why}remove (or rename) that container to be able to reuse that name.\n{HELP}", 125)
    return name


def _network(given: Given) -> str:
    network = given.get("network", ["bridge"])[-1] or "bridge"
    if network not in ("bridge", "default", "host", "none"):
        raise Refused(f"{DAEMON} network {network} not found.\n{HELP}", 125)
    if network == "host" and "publish" in given:
        print("WARNING: Published ports are discarded when using host network mode", file=sys.stderr)
    return network


def _may(given: Given) -> None:
    """What the engine refuses of folders and devices, and what the container would see otherwise than the host does."""
    targets: set[str] = set()
    for volume in given.get("volume", []):
        source, target, *more = [*volume.split(":"), volume][: max(2, volume.count(":") + 1)]
        if volume.count(":") > 2:
            raise Refused(f"{DAEMON} invalid volume specification: '{volume}'.\n{HELP}", 125)
        if not target.startswith("/"):
            why = f"invalid volume specification: '{volume}': invalid mount config for type \"volume\""
            raise Refused(f"{DAEMON} {why}: invalid mount path: '{target}' mount path must be absolute.\n{HELP}", 125)
        if more and set(more[0].split(",")) - {"ro", "rw", "z", "Z", "shared", "rslave", "rshared", "rprivate"}:
            raise Refused(f"{DAEMON} invalid mode: {more[0]}.\n{HELP}", 125)
        if target.rstrip("/") in targets:
            raise Refused(f"{DAEMON} Duplicate mount point: {target}.\n{HELP}", 125)
        targets.add(target.rstrip("/"))
        if source.rstrip("/") != target.rstrip("/"):
            raise Refused(f"docker: {volume}: a rehearsal host mounts a folder at its own path only.", 125)
        if not place.at(source).exists():
            place.at(source).mkdir(parents=True)  # as the engine does for a folder that is not there
    for device in given.get("device", []):
        if not place.at(device.partition(":")[0]).exists():
            path = device.partition(":")[0]
            why = f'error gathering device information while adding custom device "{path}": no such file or directory'
            raise Refused(f"{DAEMON} {why}.", 127)


def _nodes(given: Given) -> list[int]:
    found = [re.fullmatch(r"/dev/davinci(\d+)(?::.*)?", device) for device in given.get("device", [])]
    return [int(match.group(1)) for match in found if match]


def environment_of(given: Given) -> dict[str, str]:
    """Refused as the real one does for a file that is not there or not written for it."""
    pairs = []
    for file in given.get("env-file", []):
        try:
            lines = place.at(file).read_text().splitlines()
        except OSError as error:
            raise Refused(f"docker: open {file}: {str(error.strerror).lower()}.\n{HELP}", 125) from None
        pairs += [line.lstrip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    for pair in pairs:
        if any(sign.isspace() for sign in pair.partition("=")[0]):
            why = f"poorly formatted environment: variable '{pair.partition('=')[0]}' contains whitespaces"
            raise Refused(f"docker: {why}.\n{HELP}", 125)
    made = {}
    for name, sign, value in (pair.partition("=") for pair in [*pairs, *given.get("env", [])]):
        if sign:
            made[name] = value
        elif name in os.environ:
            made[name] = os.environ[name]
    return made


def _command(given: Given, words: list[str]) -> list[str]:
    entry = [one for one in given.get("entrypoint", [])[-1:] if one]
    return [*entry, *words] if entry or words else ["sleep", "infinity"]


def _executable(box: place.Data) -> None:
    program = box["command"][0]
    path = {**os.environ, **boxes.own_words(box)}["PATH"]
    if not shutil.which(program, path=path):
        why = (
            "failed to create task for container: failed to create shim task: OCI runtime create failed: runc create "
            f'failed: unable to start container process: exec: "{program}": executable file not found in $PATH: unknown'
        )
        raise Refused(f"{DAEMON} {why}.", 127)


def _wait(box: place.Data) -> int:
    """Show its log while it runs, pass signals on to it, and end as it ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda sent, frame: _pass_on(box, sent))
    with open(boxes.log(box), "rb") as log:
        while True:
            alive = boxes.alive(boxes.find(box["id"]) or box)
            said = log.read()
            sys.stdout.buffer.write(said)
            sys.stdout.flush()
            if not alive:
                break
            time.sleep(0.1)
    boxes.all_boxes()
    return boxes.code(box)


def _pass_on(box: place.Data, number: int) -> None:
    pid = (boxes.find(box["id"]) or box)["pid"]
    with contextlib.suppress(ProcessLookupError):
        if pid:
            os.killpg(pid, number)


def execute(given: Given, arguments: list[str]) -> int:
    box = boxes.find(arguments[0])
    if box is None:
        raise Refused(f"Error response from daemon: No such container: {arguments[0]}")
    if not box["pid"]:
        raise Refused(f"Error response from daemon: container {box['id']} is not running")
    environment = {**os.environ, **box["environment"], **environment_of(given), **boxes.own_words(box)}
    try:
        return subprocess.run(arguments[1:], env=environment, check=False).returncode
    except FileNotFoundError:
        why = f'exec: "{arguments[1]}": executable file not found in $PATH: unknown'
        raise Refused(f"OCI runtime exec failed: exec failed: unable to start container process: {why}", 127) from None


def facts(box: place.Data) -> place.Data:
    """What `docker inspect` tells."""
    devices = [
        {"PathOnHost": f"/dev/davinci{node}", "PathInContainer": f"/dev/davinci{node}"} for node in box.get("nodes", [])
    ]
    state = {
        "Running": bool(box["pid"]),
        "Pid": box["pid"] or 0,
        "ExitCode": box["code"] or 0,
        "Status": "running" if box["pid"] else "created" if box["code"] is None else "exited",
    }
    ports = {f"{port}/tcp": [{"HostIp": ip or "0.0.0.0", "HostPort": str(port)}] for ip, port in box.get("publish", [])}
    image = f"sha256:{(images.find(box['image']) or {}).get('id', '')}"
    environment = [f"{name}={value}" for name, value in box.get("environment", {}).items()]
    return {
        "Id": box["id"],
        "Name": f"/{box['name']}",
        "State": state,
        "Image": image,
        "Config": {"Image": box["image"], "Cmd": box["command"], "Env": environment},
        "HostConfig": {
            "Devices": devices,
            "RestartPolicy": {"Name": box.get("restart", "no")},
            "ShmSize": box.get("shm", "64m"),
            "AutoRemove": box.get("auto_remove", False),
            "NetworkMode": box.get("network", "bridge"),
            "PortBindings": ports,
        },
    }
