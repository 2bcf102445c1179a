"""`docker run` and `docker exec`: the command becomes a real process, which shares the host's files and network."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

from pretend import boxes, images, place

FLAGS = {
    "-d",
    "--detach",
    "-i",
    "-t",
    "-it",
    "-ti",
    "-dit",
    "-itd",
    "-id",
    "-di",
    "-td",
    "--rm",
    "--privileged",
    "--init",
    "--interactive",
    "--tty",
}
SHORT = {"-v": "--volume", "-e": "--env", "-p": "--publish", "-u": "--user", "-w": "--workdir", "--net": "--network"}
TAKES = {
    "--name",
    "--device",
    "--volume",
    "--env",
    "--env-file",
    "--publish",
    "--shm-size",
    "--network",
    "--ipc",
    "--pid",
    "--restart",
    "--workdir",
    "--entrypoint",
    "--ulimit",
    "--cap-add",
    "--security-opt",
    "--runtime",
    "--memory",
    "--user",
    "--hostname",
    "--label",
    "--mount",
    "--pull",
}
REFUSED = {
    "--user": "another user inside a container",
    "--mount": "--mount; use -v",
}
"""Option -> what of it is not simulated."""


def run(words: list[str]) -> int:
    given, rest = _options(words)
    if not rest:
        raise ValueError("‘docker run’ requires at least 1 argument.")
    image = images.find(rest[0])
    if image is None:
        print(f"Unable to find image '{images.full(rest[0])}' locally", file=sys.stderr)
        if images.pull([rest[0]]):
            return 125
    _may(given)
    name = (given.get("--name") or [f"rehearsal_{len(boxes.all_boxes()) + 1}"])[-1]
    if boxes.find(name):
        print(
            f'docker: Error response from daemon: Conflict. The container name "/{name}" is already in use.',
            file=sys.stderr,
        )
        return 125
    box = boxes.create(
        {
            "name": name,
            "image": images.full(rest[0]),
            "command": _command(given, rest[1:]),
            "nodes": _nodes(given),
            "environment": _environment(given),
            "folder": (given.get("--workdir") or ["/"])[-1],
            "restart": (given.get("--restart") or ["no"])[-1],
            "flags": words,
            "shm": (given.get("--shm-size") or ["64m"])[-1],
        }
    )
    boxes.start(box)
    if "-d" in given:
        print(box["id"])
        return 0
    return _wait(box, "--rm" in given)


def _options(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    given: dict[str, list[str]] = {}
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        name, sign, value = word.partition("=")
        name = SHORT.get(name, name)
        if word in FLAGS:
            given.setdefault("-d" if ("d" in word and not word.startswith("--")) or word == "--detach" else word, [])
        elif name in TAKES:
            given.setdefault(name, []).append(value if sign else rest.pop(0) if rest else "")
        else:
            raise ValueError(f"the option {word} is not simulated on a rehearsal host.")
    return given, rest


def _may(given: dict[str, list[str]]) -> None:
    """Refuse what the container would see otherwise than the host does."""
    for option, what in REFUSED.items():
        if option in given:
            raise ValueError(f"{what}: not simulated on a rehearsal host.")
    for volume in given.get("--volume", []):
        source, target = [*volume.split(":"), volume][:2]
        if source.rstrip("/") != target.rstrip("/"):
            raise ValueError(f"{volume}: a rehearsal host mounts a folder at its own path only.")
    for port in given.get("--publish", []):
        numbers = re.findall(
            r"\d+", port.partition("/")[0].rpartition(":")[0].rpartition(":")[2] + " " + port.rpartition(":")[2]
        )
        if len(set(numbers)) > 1:
            raise ValueError(f"{port}: a rehearsal host publishes a port under its own number only.")
    for device in given.get("--device", []):
        if not place.at(device.partition(":")[0]).exists():
            message = (
                f'error gathering device information while adding custom device "{device}": no such file or directory'
            )
            raise ValueError(f"Error response from daemon: {message}.")


def _nodes(given: dict[str, list[str]]) -> list[int]:
    found = [re.fullmatch(r"/dev/davinci(\d+)(?::.*)?", device) for device in given.get("--device", [])]
    return [int(match.group(1)) for match in found if match]


def _environment(given: dict[str, list[str]]) -> dict[str, str]:
    pairs = list(given.get("--env", []))
    for file in given.get("--env-file", []):
        pairs += [line for line in place.at(file).read_text().splitlines() if line.strip() and not line.startswith("#")]
    return {
        name: value if sign else os.environ.get(name, "")
        for name, sign, value in (pair.partition("=") for pair in pairs)
    }


def _command(given: dict[str, list[str]], words: list[str]) -> list[str]:
    entry = given.get("--entrypoint", [])[-1:]
    return [*entry, *words] if entry or words else ["sleep", "infinity"]


def _wait(box: place.Data, forget: bool) -> int:
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
    ended = boxes.find(box["id"]) or box
    if forget:
        boxes.remove(box)
    return int(ended["code"] or 0)


def _pass_on(box: place.Data, number: int) -> None:
    pid = (boxes.find(box["id"]) or box)["pid"]
    with contextlib.suppress(ProcessLookupError):
        if pid:
            os.killpg(pid, number)


def execute(words: list[str]) -> int:
    given, rest = _options(words)
    box = boxes.find(rest[0]) if rest else None
    if box is None or not box["pid"]:
        print(f"Error response from daemon: No such container: {' '.join(rest[:1])}", file=sys.stderr)
        return 1
    environment = {**os.environ, **box["environment"], **_environment(given), **boxes.own_words(box)}
    try:
        return subprocess.run(rest[1:], env=environment, check=False).returncode
    except FileNotFoundError:
        print(f'OCI runtime exec failed: exec: "{rest[1]}": executable file not found in $PATH', file=sys.stderr)
        return 127


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
        },
    }
