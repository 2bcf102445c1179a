"""`docker`: information, images, and containers as far as a pilot needs them; the rest is refused in a sentence."""

from __future__ import annotations

import json
import sys
import time

from pretend import boxes, docker_run, images, place, processor, templates, users

NO_DAEMON = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"


def main(name: str, words: list[str]) -> int:
    if words[:1] in (["--version"], ["-v"]):
        print(f"Docker version {place.read('docker').get('version')}, build 9f9e405")
        return 0
    words = words[1:] if words[:1] in (["container"], ["image"]) and _alias(words) else words
    if not words or words[0] not in COMMANDS:
        print(f"docker: ‘{' '.join(words[:1])}’ is not simulated on a rehearsal host.", file=sys.stderr)
        return 1
    me = users.current()
    if me.uid and "docker" not in me.groups:
        print("permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock")
        return 1
    if not runs():
        print(NO_DAEMON, file=sys.stderr)
        return 1
    try:
        return COMMANDS[words[0]](words[1:])
    except ValueError as error:
        print(f"docker: {error}", file=sys.stderr)
        return 125 if words[0] == "run" else 1


def _alias(words: list[str]) -> bool:
    """`docker image ls` is `docker images`; all others keep their names."""
    if words[:2] == ["image", "ls"]:
        words[1] = "images"
    if words[:2] == ["image", "rm"]:
        words[1] = "rmi"
    if words[:2] == ["container", "ls"]:
        words[1] = "ps"
    return True


def runs() -> bool:
    packages = place.read("packages").get("installed", {})
    has_engine = any(name.startswith(("docker", "moby")) for name in packages)
    return has_engine and place.read("services").get("docker", place.read("docker").get("running", False))


def format_of(words: list[str]) -> str:
    for index, word in enumerate(words):
        if word.startswith(("--format=", "-f=")):
            return word.partition("=")[2]
        if word in ("--format", "-f") and index + 1 < len(words):
            return words[index + 1]
    return ""


def names_of(words: list[str], takes: tuple[str, ...] = ("--format", "-f")) -> list[str]:
    """The words that are neither options nor their values."""
    found, skip = [], False
    for word in words:
        if not skip and not word.startswith("-"):
            found.append(word)
        skip = word in takes
    return found


def _info(words: list[str]) -> int:
    kept = place.read("docker")
    played = place.scenario()
    runtimes = {name: {"path": f"/usr/bin/{name}"} for name in kept["runtimes"]}
    facts = {
        "ServerVersion": kept["version"],
        "DefaultRuntime": kept["default"],
        "Runtimes": runtimes,
        "Containers": len(boxes.all_boxes()),
        "Images": len(kept["images"]),
        "Driver": "overlay2",
        "DockerRootDir": "/var/lib/docker",
        "Architecture": "aarch64",
        "OSType": "linux",
        "KernelVersion": played["kernel"]["release"],
        "NCPU": processor.cores(played),
    }
    template = format_of(words)
    if template:
        print(templates.fill(template, facts))
    else:
        lines = [f" {name}: {' '.join(value) if isinstance(value, dict) else value}" for name, value in facts.items()]
        print("\n".join(["Client:", f" Version: {kept['version']}", "", "Server:", *lines]))
    return 0


def _version(words: list[str]) -> int:
    version = place.read("docker")["version"]
    facts = {"Client": {"Version": version}, "Server": {"Version": version, "Arch": "arm64"}}
    print(
        templates.fill(format_of(words), facts)
        if format_of(words)
        else f"Client:\n Version: {version}\nServer:\n Version: {version}"
    )
    return 0


def _ps(words: list[str]) -> int:
    flags = "".join(word[1:] for word in words if word.startswith("-") and not word.startswith("--"))
    every = "a" in flags or "--all" in words
    shown = [box for box in reversed(boxes.all_boxes()) if every or box["pid"]]
    if "q" in flags or "--quiet" in words:
        print("".join(f"{box['id'][:12]}\n" for box in shown), end="")
        return 0
    rows = [_row(box, "--no-trunc" in words) for box in shown]
    template = format_of(words)
    if template:
        print("".join(templates.fill(template, row) + "\n" for row in rows), end="")
        return 0
    columns = ("ID", "Image", "Command", "Status", "Names")
    titles = ("CONTAINER ID", "IMAGE", "COMMAND", "STATUS", "NAMES")
    for line in [titles, *([str(row[column]) for column in columns] for row in rows)]:
        print("   ".join(f"{cell:<20}" for cell in line).rstrip())
    return 0


def _row(box: place.Data, whole: bool) -> dict[str, object]:
    age = f"{max(1, round((time.time() - box.get('started', box['created'])) / 60))} minutes"
    status = (
        f"Up {age}" if box["pid"] else f"Exited ({box['code']}) {age} ago" if box["code"] is not None else "Created"
    )
    state = "running" if box["pid"] else "created" if box["code"] is None else "exited"
    return {
        "ID": box["id"] if whole else box["id"][:12],
        "Image": box["image"],
        "Names": box["name"],
        "Status": status,
        "State": state,
        "Command": json.dumps(" ".join(box["command"])),
        "Ports": "",
    }


def _inspect(words: list[str]) -> int:
    found, code = [], 0
    for word in names_of(words, ("--format", "-f", "--type")):
        box, image = boxes.find(word), images.find(word)
        if box or image:
            found.append(docker_run.facts(box) if box else images.facts(image or {}))
        else:
            print(f"Error: No such object: {word}", file=sys.stderr)
            code = 1
    template = format_of(words)
    print("\n".join(templates.fill(template, one) for one in found) if template else json.dumps(found, indent=4))
    return code


def _each(words: list[str], takes: tuple[str, ...], act: object) -> int:
    code = 0
    for word in names_of(words, takes):
        box = boxes.find(word)
        if box is None:
            print(f"Error response from daemon: No such container: {word}", file=sys.stderr)
            code = 1
        elif complaint := act(box):  # type: ignore[operator]
            print(f"Error response from daemon: {complaint}", file=sys.stderr)
            code = 1
        else:
            print(word)
    return code


def _stop(words: list[str]) -> int:
    given = next((words[index + 1] for index, word in enumerate(words[:-1]) if word in ("-t", "--time")), "10")
    return _each(words, ("-t", "--time"), lambda box: boxes.stop(box, float(given)))


def _start(words: list[str]) -> int:
    return _each(words, (), lambda box: None if box["pid"] else (boxes.start(box), None)[1])


def _remove(words: list[str]) -> int:
    force = bool({"-f", "--force"} & set(words))

    def one(box: place.Data) -> str | None:
        if box["pid"] and not force:
            return f'cannot remove container "/{box["name"]}": container is running: stop the container first'
        boxes.stop(box, 0)
        return boxes.remove(box)

    return _each([word for word in words if not word.startswith("-")], (), one)


def _logs(words: list[str]) -> int:
    if {"-f", "--follow"} & set(words):
        raise ValueError("following a log is not simulated on a rehearsal host.")
    for word in names_of(words, ("--tail", "-n", "--since")):
        box = boxes.find(word)
        if box is None:
            print(f"Error response from daemon: No such container: {word}", file=sys.stderr)
            return 1
        print(boxes.log(box).read_text(errors="replace") if boxes.log(box).exists() else "", end="")
    return 0


COMMANDS = {
    "info": _info,
    "version": _version,
    "ps": _ps,
    "inspect": _inspect,
    "stop": _stop,
    "kill": lambda words: _stop(["-t", "0", *words]),
    "start": _start,
    "rm": _remove,
    "logs": _logs,
    "run": docker_run.run,
    "exec": docker_run.execute,
    "images": images.listing,
    "load": images.load,
    "pull": images.pull,
    "rmi": images.remove,
}
