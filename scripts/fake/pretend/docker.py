"""`docker`: information, images, and containers as far as a pilot needs them; the rest is refused in a sentence."""

from __future__ import annotations

import json
import sys
import time

from pretend import boxes, docker_ports, docker_run, docker_words, images, place, processor, templates, users

Given = dict[str, list[str]]
NO_RIGHT = (
    "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "
    '"http://%2Fvar%2Frun%2Fdocker.sock/v1.47/info": dial unix /var/run/docker.sock: connect: permission denied'
)
NO_DAEMON = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"


def main(name: str, words: list[str]) -> int:
    if words[:1] in (["--version"], ["-v"]):
        print(f"Docker version {place.read('docker').get('version')}, build 9f9e405")
        return 0
    words, kind = _plain(words)
    if not words or words[0] not in docker_words.OPTIONS:
        print(f"docker: ‘{' '.join(words[:1])}’ is not simulated on a rehearsal host.", file=sys.stderr)
        return 1
    begun = "docker: " if words[0] == "run" else ""
    try:
        given, arguments = docker_words.parse(words[0], words[1:])
        checked = docker_run.checked(given) if words[0] == "run" else None
        _reached(begun)
        if checked is not None:
            return docker_run.run(checked, arguments)
        return COMMANDS[words[0]](given | ({"type": [kind]} if kind else {}), arguments)
    except docker_words.Refused as refused:
        print(refused, file=sys.stderr)
        return refused.code
    except ValueError as error:
        print(f"{begun}{error}", file=sys.stderr)
        return 125 if begun else 1


def _plain(words: list[str]) -> tuple[list[str], str]:
    """`docker image ls` is `docker images`; all others keep their names. Also which kind of thing is meant."""
    if words[:1] not in (["container"], ["image"]) or len(words) < 2:
        return words, ""
    kind, command = words[0], words[1]
    renamed = {("image", "ls"): "images", ("image", "rm"): "rmi", ("container", "ls"): "ps"}
    return [renamed.get((kind, command), command), *words[2:]], kind if command == "inspect" else ""


def _reached(begun: str) -> None:
    """Refused when this user may not talk to the engine, or when it does not run."""
    me = users.current()
    if me.uid and "docker" not in me.groups:
        raise docker_words.Refused(f"{begun}{NO_RIGHT}", 126 if begun else 1)
    if not runs():
        raise docker_words.Refused(f"{begun}{NO_DAEMON}", 125 if begun else 1)


def is_installed() -> bool:
    """Whether a package has brought the engine; its command is there anyway."""
    return any(name.startswith(("docker", "moby")) for name in place.read("packages").get("installed", {}))


def runs() -> bool:
    return is_installed() and place.read("services").get("docker", place.read("docker").get("running", False))


def format_of(given: Given) -> str:
    return given.get("format", [""])[-1]


def _info(given: Given, arguments: list[str]) -> int:
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
    template = format_of(given)
    if template:
        print(templates.fill(template, facts))
    else:
        lines = [f" {name}: {' '.join(value) if isinstance(value, dict) else value}" for name, value in facts.items()]
        print("\n".join(["Client:", f" Version: {kept['version']}", "", "Server:", *lines]))
    return 0


def _version(given: Given, arguments: list[str]) -> int:
    version = place.read("docker")["version"]
    facts = {"Client": {"Version": version}, "Server": {"Version": version, "Arch": "arm64"}}
    print(
        templates.fill(format_of(given), facts)
        if format_of(given)
        else f"Client:\n Version: {version}\nServer:\n Version: {version}"
    )
    return 0


def _ps(given: Given, arguments: list[str]) -> int:
    shown = [box for box in reversed(boxes.all_boxes()) if "all" in given or box["pid"]]
    shown = [box for box in shown if all(_passes(box, one) for one in given.get("filter", []))]
    if "quiet" in given:
        print("".join(f"{box['id'] if 'no-trunc' in given else box['id'][:12]}\n" for box in shown), end="")
        return 0
    rows = [_row(box, "no-trunc" in given) for box in shown]
    template = format_of(given)
    if template:
        print("".join(templates.fill(template, row) + "\n" for row in rows), end="")
        return 0
    columns = ("ID", "Image", "Command", "Status", "Ports", "Names")
    titles = ("CONTAINER ID", "IMAGE", "COMMAND", "STATUS", "PORTS", "NAMES")
    for line in [titles, *([str(row[column]) for column in columns] for row in rows)]:
        print("   ".join(f"{cell:<20}" for cell in line).rstrip())
    return 0


def _passes(box: place.Data, wanted: str) -> bool:
    """`name=`, `id=` and `status=`; the real one takes more."""
    key, _, value = wanted.partition("=")
    if key == "name":
        return value.strip("^/$") == box["name"] if value.startswith("^") else value in box["name"]
    if key in ("id", "status"):
        return box["id"].startswith(value) if key == "id" else value == state_of(box)
    raise docker_words.Refused(f"the filter {wanted} is not simulated on a rehearsal host.")


def state_of(box: place.Data) -> str:
    return "running" if box["pid"] else "created" if box["code"] is None else "exited"


def _row(box: place.Data, whole: bool) -> dict[str, object]:
    age = f"{max(1, round((time.time() - box.get('started', box['created'])) / 60))} minutes"
    status = (
        f"Up {age}" if box["pid"] else f"Exited ({box['code']}) {age} ago" if box["code"] is not None else "Created"
    )
    ports = [f"{ip or '0.0.0.0'}:{port}->{port}/tcp" for ip, port in box.get("publish", []) if box["pid"]]
    return {
        "ID": box["id"] if whole else box["id"][:12],
        "Image": box["image"],
        "Names": box["name"],
        "Status": status,
        "State": state_of(box),
        "Command": json.dumps(" ".join(box["command"])),
        "Ports": ", ".join(ports),
    }


def _inspect(given: Given, arguments: list[str]) -> int:
    kind, missing = given.get("type", [""])[-1], []
    found = []
    for word in arguments:
        box = boxes.find(word) if kind in ("", "container") else None
        image = images.find(word) if kind in ("", "image") else None
        if box or image:
            found.append(docker_run.facts(box) if box else images.facts(image or {}))
        else:
            missing.append(f"Error: No such {kind or 'object'}: {word}")
    template = format_of(given)
    if template:
        print("\n".join(templates.fill(template, one) for one in found))
    else:
        print(json.dumps(found, indent=4))
    print("".join(f"{one}\n" for one in missing), end="", file=sys.stderr)
    return 1 if missing else 0


def _each(arguments: list[str], act: object) -> int:
    code = 0
    for word in arguments:
        box = boxes.find(word)
        complaint = act(box) if box else f"No such container: {word}"  # type: ignore[operator]
        if complaint:
            print(f"Error response from daemon: {complaint}", file=sys.stderr)
            code = 1
        else:
            print(word)
    return code


def _stop(given: Given, arguments: list[str]) -> int:
    patience = given.get("time", ["10"])[-1]
    if not patience.lstrip("-").isdecimal():
        why = f'invalid argument "{patience}" for "-t, --time" flag: strconv.ParseInt: parsing "{patience}": '
        raise docker_words.Refused(f"{why}invalid syntax\nSee 'docker stop --help'.", 125)
    seconds = float(patience) if float(patience) >= 0 else 1e9
    return _each(arguments, lambda box: boxes.stop(box, seconds))


def _kill(given: Given, arguments: list[str]) -> int:
    def one(box: place.Data) -> str | None:
        return (
            boxes.stop(box, 0)
            if box["pid"]
            else f"cannot kill container: {box['name']}: container {box['id']} is not running"
        )

    return _each(arguments, one)


def _start(given: Given, arguments: list[str]) -> int:
    def one(box: place.Data) -> str | None:
        if not box["pid"]:
            docker_ports.take(box)
            boxes.start(box)
        return None

    return _each(arguments, one)


def _remove(given: Given, arguments: list[str]) -> int:
    """With --force what is not there is told and no failure."""
    force = "force" in given

    def one(box: place.Data) -> str | None:
        if box["pid"] and not force:
            end = "container is running: stop the container before removing or force remove"
            return f'cannot remove container "/{box["name"]}": {end}'
        boxes.stop(box, 0)
        return boxes.remove(box)

    code = _each(arguments, one)
    return 0 if force else code


def _logs(given: Given, arguments: list[str]) -> int:
    box = boxes.find(arguments[0])
    if box is None:
        raise docker_words.Refused(f"Error response from daemon: No such container: {arguments[0]}")
    said = boxes.log(box).read_text(errors="replace").splitlines(keepends=True) if boxes.log(box).exists() else []
    tail = given.get("tail", ["all"])[-1]
    if tail.isdecimal():
        said = said[len(said) - int(tail) :] if int(tail) < len(said) else said
    print("".join(said), end="")
    return 0


COMMANDS = {
    "info": _info,
    "version": _version,
    "ps": _ps,
    "inspect": _inspect,
    "stop": _stop,
    "kill": _kill,
    "start": _start,
    "rm": _remove,
    "logs": _logs,
    "exec": docker_run.execute,
    "images": images.listing,
    "load": images.load,
    "pull": images.pull,
    "rmi": images.remove,
}
